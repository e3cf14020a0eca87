// format.js - numbers and names as text.

// Six significant digits, as a reader wants them on hovering.
export function number(value) {
  if (typeof value !== 'number' || !isFinite(value))
    return '\u2013';
  var size = Math.abs(value);
  if (value === Math.round(value) && size < 1e7)
    return String(value);
  if (size >= 1e6 || (size > 0 && size < 1e-3))
    return value.toExponential(3).replace(/\.?0+e/, 'e');
  return String(Number(value.toPrecision(size >= 1000 ? 8 : 6)));
}

// On an axis as many digits as its steps need: ECharts has rounded already.
export function tick(value) {
  var size = Math.abs(value);
  return size >= 1e6 || (size > 0 && size < 1e-3) ? number(value)
                                                  : String(value);
}

var entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;',
                 '\'': '&#39;' };

// Names come from models and files: in HTML they stay text.
export function escape(text) {
  return String(text).replace(/[&<>"']/g, function (c) {
    return entities[c];
  });
}
