// figures.js - figures on the page: drawn when they come near the screen, and
// again when the theme or the width changes.
import echarts from './echarts.js';
import { chart, svg } from './charts.js';
import { dark, light } from './charts/theme.js';
import { element } from './element.js';
import { alongPath, hasPath } from './path.js';

var theme = light;
var path = null; // the map of tau, while charts are drawn over the barrier
var shown = []; // {figure, box, chart or null}

// Narrow screens get taller pictures of the square kinds, not wider ones.
function heightOf(figure, width) {
  if (figure.kind === 'pairs')
    return Math.min(width, 200 * figure.columns.length) * 0.9 + 60;
  if (figure.kind === 'forest')
    return 96 + 30 * figure.items.length;
  if (figure.kind === 'matrix')
    return 80 + 44 * figure.rows.length;
  if (figure.kind === 'contour' || figure.kind === 'surface')
    return Math.max(300, Math.min(460, 0.75 * width));
  return Math.max(240, Math.min(320, 0.6 * width));
}

function draw(entry) {
  var width = entry.box.clientWidth;
  if (width === 0)
    return;
  var height = Math.round(heightOf(entry.figure, width));
  entry.box.style.height = height + 'px';
  if (!entry.chart)
    entry.chart = echarts.init(entry.box, null, { renderer: 'svg' });
  entry.chart.resize({ width: width, height: height });
  entry.chart.setOption(chart(alongPath(entry.figure, path), theme,
                              { width: width, height: height }), true);
  entry.width = width;
}

var watcher = typeof IntersectionObserver === 'undefined' ? null
  : new IntersectionObserver(function (entries) {
    entries.forEach(function (seen) {
      var entry = shown.filter(function (e) { return e.box === seen.target; })[0];
      if (!entry || !seen.isIntersecting || entry.chart)
        return;
      draw(entry);
    });
  }, { rootMargin: '300px' });

var wider = typeof ResizeObserver === 'undefined' ? null
  : new ResizeObserver(function (entries) {
    entries.forEach(function (seen) {
      var entry = shown.filter(function (e) { return e.box === seen.target; })[0];
      if (entry && entry.chart && entry.box.clientWidth !== entry.width)
        draw(entry);
    });
  });

export function redraw(isDark) {
  theme = isDark ? dark : light;
  shown.forEach(function (entry) {
    if (entry.chart)
      draw(entry);
  });
}

// Charts against tau over the barrier's share (a map), or over tau (null).
export function setPath(map) {
  path = map;
  shown.forEach(function (entry) {
    if (entry.chart && hasPath(entry.figure))
      draw(entry);
  });
}

export function drawAll() {
  shown.forEach(draw);
}

// Forget the figures inside an element that leaves the page.
export function release(parent) {
  shown = shown.filter(function (entry) {
    if (!parent.contains(entry.box))
      return true;
    if (entry.chart)
      entry.chart.dispose();
    return false;
  });
}

function save(figure) {
  var text = svg(alongPath(figure, path), 720, Math.round(heightOf(figure, 720)) + 40);
  var url = URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' }));
  var name = figure.title.replace(/[^A-Za-z0-9]+/g, '-') + '.svg';
  element('a', { href: url, download: name }).click();
  setTimeout(function () { URL.revokeObjectURL(url); }, 1000);
}

export function figureBox(figure) {
  var box = element('div', { class: 'chart', role: 'img',
                             'aria-label': figure.title || '' });
  var button = element('button', { class: 'save', type: 'button',
                                   title: 'Save this figure as SVG' }, ['SVG']);
  button.onclick = function () { save(figure); };
  box.style.height = heightOf(figure, 480) + 'px';
  shown.push({ figure: figure, box: box, chart: null });
  if (watcher)
    watcher.observe(box);
  if (wider)
    wider.observe(box);
  return element('figure', { class: figure.wide ? 'wide' : '' }, [
    element('figcaption', {}, [figure.title || '']), button, box,
    element('p', { class: 'note' }, [figure.note || '']),
  ]);
}
