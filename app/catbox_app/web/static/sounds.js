// Quiet sounds of what happens, as short tones; there are none until they are switched on.

import {setting} from "./settings.js";

// The tones of each sound: [pitch in hertz, seconds].
const TONES = {
  card: [[420, 0.06]],
  trick: [[523, 0.09], [659, 0.14]],
  end: [[523, 0.12], [659, 0.12], [784, 0.3]],
  paradox: [[233, 0.16], [220, 0.16], [165, 0.4]],
};
const VOLUME = 0.05;
let output = null; // an AudioContext, from the first sound on

/** Plays the sound `name`, if sounds are on. */
export function playSound(name) {
  if (setting("sound", "off") !== "on") return;
  output ??= new AudioContext();
  let at = output.currentTime;
  for (const [pitch, seconds] of TONES[name]) {
    const tone = new OscillatorNode(output, {type: "triangle", frequency: pitch});
    const fading = new GainNode(output, {gain: VOLUME});
    fading.gain.setValueAtTime(VOLUME, at);
    fading.gain.exponentialRampToValueAtTime(0.001, at + seconds);
    tone.connect(fading).connect(output.destination);
    tone.start(at);
    tone.stop(at + seconds);
    at += 0.8 * seconds;
  }
}
