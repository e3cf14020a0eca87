// main.js - the entry of the bundle. In a browser it shows the page's
// document; elsewhere it only offers temperaSvg to the C program.
import { svg } from './charts.js';
import { show } from './page.js';

globalThis.temperaSvg = function (text, width, height) {
  return svg(JSON.parse(text), width, height);
};

if (typeof document !== 'undefined')
  show(JSON.parse(document.getElementById('document').textContent));
