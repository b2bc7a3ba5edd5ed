// A transport (see connection.js) to tables in this very browser: in a worker, without a server.

/**
 * A promise of a transport to the worker `url`, kept when Python is ready there; broken with the reason where it cannot be.
 * `onprogress(share)` is told how much is loaded, 0 to 1.
 */
export async function workerTransport(url, onprogress) {
  let worker = await started(onprogress);
  const transport = {
    onmessage: () => {},
    onstate: () => {},
    open() {
      worker.onmessage = ({data}) => (data.broken === undefined ? transport.onmessage(data.message) : lost(data.broken));
      worker.onerror = (event) => lost(event.message);
      transport.onstate("open");
    },
    send(message) {
      if (worker === null) return false;
      worker.postMessage(message);
      return true;
    },
  };
  return transport;

  // Python is at an end (its memory is full, for example): its tables are gone, another one begins.
  async function lost(reason) {
    console.error(reason);
    worker.terminate();
    worker = null;
    transport.onstate("lost");
    worker = await started(() => {});
    transport.open();
  }

  function started(told) {
    return new Promise((resolve, reject) => {
      const starting = new Worker(url, {type: "module"});
      starting.onmessage = ({data}) => {
        if (data.ready) resolve(starting);
        else if (data.broken) fail(data.broken);
        else told(data.loaded);
      };
      starting.onerror = (event) => fail(event.message ?? `${url} could not be loaded`);
      function fail(reason) {
        starting.terminate();
        reject(new Error(reason));
      }
    });
  }
}
