// theme.js - colours and type. The colours are those of Okabe and Ito, told
// apart by colour-blind readers; shapes and dashes are the second cue.

// No quotes: ECharts puts these names into attributes as they are.
var font = 'system-ui, Segoe UI, Roboto, DejaVu Sans, Helvetica, Arial, ' +
    'sans-serif';

export var light = {
  font: font,
  background: '#ffffff',
  text: '#1f2328',
  faint: '#57606a',
  line: '#8c959f',
  grid: '#e6e9ec',
  colours: ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9',
            '#4d4d4d', '#a68a00'],
};

export var dark = {
  font: font,
  background: '#15191f',
  text: '#e6edf3',
  faint: '#9aa4af',
  line: '#6e7681',
  grid: '#2a3038',
  colours: ['#56b4e9', '#f58b45', '#2fc79b', '#e79fc4', '#f2bb3d', '#8fa9ff',
            '#c9d1d9', '#f0e442'],
};

var symbols = ['circle', 'triangle', 'rect', 'diamond', 'arrow', 'pin',
               'roundRect'];
var dashes = ['solid', [7, 3], [2, 3], [9, 3, 2, 3], [12, 4], [4, 4]];

function cycle(list, i) {
  return list[i % list.length];
}

export function colour(theme, i) {
  return cycle(theme.colours, i);
}

export function symbol(i) {
  return cycle(symbols, i);
}

export function dash(i) {
  return cycle(dashes, i);
}

function channel(hex, at) {
  return parseInt(hex.substr(at, 2), 16);
}

// Between two colours of the form #rrggbb, `share` of the way.
export function blend(from, to, share) {
  var parts = [1, 3, 5].map(function (at) {
    return Math.round(channel(from, at) * (1 - share) + channel(to, at) * share);
  });
  return 'rgb(' + parts.join(',') + ')';
}
