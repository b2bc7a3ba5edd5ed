// The cats: the logo, and the names and faces of the seats.

import {shape} from "./dom.js";

const CATS = ["Mochi", "Luna", "Tom", "Nala", "Felix", "Pixel"];
// For each cat the colours of its fur, its ears and its markings, and the markings: a tabby's, stripes, a muzzle, a mask, a patch.
const STRIPES = "M12.6 8.5l1 4.5h1l-.4-4.8zM17.4 8.5l-1 4.5h-1l.4-4.8zM6.2 15.5l4 1.2v.9l-3.8-.4zM25.8 15.5l-4 1.2v.9l3.8-.4z";
const MUZZLE = "M16 15.5c3.6 0 6 2.7 6 5.4s-2.9 5.1-6 5.1-6-2.4-6-5.1 2.4-5.4 6-5.4z";
const MASK = "M16 11.5c5 0 8.4 3.4 8.4 7.4S20.6 26 16 26s-8.4-3.1-8.4-7.1 3.4-7.4 8.4-7.4z";
const TABBY = "M15.2 8.5h1.6l-.3 5.3h-1zM11.2 8.3h1.3l1.2 4.6h-1zM20.8 8.3h-1.3l-1.2 4.6h1zM6.1 14.8l4 1.3v1l-3.8-.5zM25.9 14.8l-4 1.3v1l3.8-.5zM6.7 19l3.7-.3v1l-3.1.9zM25.3 19l-3.7-.3v1l3.1.9z";
const PATCH = "M16 8.5h4L26 4v9c.6 3-.2 5.8-1.9 8-4-.4-8.1-5-8.1-12.5z";
const COATS = [
  ["#ef8f2f", "#f8c9a8", "#b4560f", TABBY], ["#3b3f4c", "#8d7f88", "#f4f1ea", MUZZLE],
  ["#9aa3b2", "#e2bfc3", "#626c7d", STRIPES], ["#efe0c4", "#7a5a46", "#8a6a54", MASK],
  ["#f6f2ea", "#f0c4c0", "#3b3f4c", PATCH], ["#b9835a", "#ecc9b4", "#f3e4d2", MUZZLE],
];

/** The name of the cat at `seat`. */
export function catName(seat) {
  return CATS[seat % CATS.length];
}

/** The face of the cat at `seat`. */
export function catFace(seat) {
  const [fur, ears, markings, d] = COATS[seat % COATS.length];
  const face = shape("svg", {viewBox: "3 2 26 26", width: 28, height: 28, class: "cat", "aria-hidden": "true"});
  const parts = [
    ["M6 13V4l6 4.5h8L26 4v9c1.4 7-4 13-10 13S4.6 20 6 13z", fur],
    ["M7.6 6.8l3.4 2.6-3.4 2.6zM24.4 6.8L21 9.4l3.4 2.6z", ears],
    [d, markings],
    ["M11.5 14.5a2 2.4 0 1 0 .01 0zM20.5 14.5a2 2.4 0 1 0 .01 0z", "#fdf6d8"],
    ["M11.5 15a.9 1.9 0 1 0 .01 0zM20.5 15a.9 1.9 0 1 0 .01 0zM14.8 20h2.4L16 21.7z", "#1d2230"],
  ];
  face.append(...parts.map(([path, fill]) => shape("path", {d: path, fill})));
  face.firstChild.setAttribute("stroke", "#1d2230");
  return face;
}

/** The logo: a cat in a box. */
export function logo() {
  const d = "M8 14V4l6 5h4l6-5v10h1a3 3 0 0 1 3 3v9a3 3 0 0 1-3 3H7a3 3 0 0 1-3-3v-9a3 3 0 0 1 3-3z";
  const eyes = "M12.4 11.5a1.3 1.6 0 1 0 .01 0zM19.6 11.5a1.3 1.6 0 1 0 .01 0z";
  const parts = [shape("path", {d, fill: "currentColor"}), shape("path", {d: eyes, class: "eyes"})];
  return shape("svg", {viewBox: "0 0 32 32", class: "logo", "aria-hidden": "true"}, ...parts);
}
