// frame.js - what all charts share: title, legend, axes, the box that shows
// numbers on hovering.
import { escape, number, tick } from './format.js';

// The fields of both; those of `over` win.
export function extend(under, over) {
  var made = {}, key;
  for (key in under)
    made[key] = under[key];
  for (key in over)
    made[key] = over[key];
  return made;
}

// The title stands in the picture only where no page shows it (theme.titled).
export function base(figure, theme) {
  var titled = theme.titled && figure.title;
  return {
    animation: false,
    backgroundColor: theme.titled ? theme.background : 'transparent',
    textStyle: { fontFamily: theme.font, color: theme.text, fontSize: 12 },
    title: titled ? {
      text: figure.title,
      subtext: figure.note || '',
      left: 8,
      top: 6,
      itemGap: 4,
      textStyle: { fontSize: 15, fontWeight: 600, color: theme.text },
      subtextStyle: { fontSize: 11, color: theme.faint },
    } : undefined,
    grid: { left: 14, right: 18, top: top(figure, theme, 0), bottom: 8 },
    tooltip: {
      confine: true,
      backgroundColor: theme.background,
      borderColor: theme.line,
      textStyle: { color: theme.text, fontSize: 12 },
      extraCssText: 'max-width:22em;white-space:normal',
    },
  };
}

// Room above the axes for the title, its note and `rows` rows of legend.
export function top(figure, theme, rows) {
  var titled = theme.titled && figure.title ? (figure.note ? 50 : 34) : 0;
  return titled + 12 + 22 * rows;
}

function legendRows(names, width) {
  var used = 0, rows = 1;
  names.forEach(function (name) {
    var wide = 42 + 6.5 * name.length;
    if (used > 0 && used + wide > width - 30) {
      rows++;
      used = 0;
    }
    used += wide;
  });
  return rows;
}

// A legend when there is more than one name to tell apart.
export function legend(option, figure, theme, names, size) {
  var shown = names.filter(function (name, i) {
    return name && names.indexOf(name) === i;
  });
  if (shown.length < 2 && !figure.legend)
    return;
  option.legend = {
    data: shown,
    left: 8,
    top: top(figure, theme, 0) - 10,
    itemWidth: 22,
    itemHeight: 9,
    itemGap: 12,
    inactiveColor: theme.line,
    textStyle: { color: theme.text, fontSize: 12 },
  };
  option.grid.top = top(figure, theme, legendRows(shown, size.width));
}

// x, y: {name, scale: "value", "log" or "category", min, max, categories}.
export function axis(spec, theme, vertical) {
  spec = spec || {};
  var category = spec.scale === 'category';
  return {
    type: spec.scale || 'value',
    name: spec.name || '',
    nameLocation: 'middle',
    nameGap: vertical ? 12 : 10,
    nameTextStyle: { color: theme.text, fontSize: 12 },
    data: category ? spec.categories : undefined,
    inverse: !!spec.inverse,
    scale: !spec.zero,
    min: spec.min === null ? undefined : spec.min,
    max: spec.max === null ? undefined : spec.max,
    splitNumber: 5,
    axisLine: { show: true, onZero: false, lineStyle: { color: theme.line } },
    axisTick: { show: !category, lineStyle: { color: theme.line } },
    axisLabel: {
      color: theme.faint,
      fontSize: 11,
      hideOverlap: true,
      formatter: category ? undefined : spec.label || tick,
    },
    splitLine: { show: vertical && !category,
                 lineStyle: { color: theme.grid } },
  };
}

// Names on a vertical axis need room that ECharts, without a browser, guesses
// too small.
export function nameRoom(option, names) {
  var longest = Math.max.apply(null, names.map(function (name) {
    return String(name).length;
  }));
  option.grid.left = Math.min(260, 20 + 7.2 * longest);
  option.grid.outerBoundsMode = 'none';
  option.grid.bottom = 46;
  option.xAxis.nameGap = 26;
}

// Lines of a hover box: a head and rows of [mark, name, value].
export function hover(head, rows) {
  var out = head ? '<b>' + escape(head) + '</b><br>' : '';
  return out + rows.map(function (row) {
    return (row[0] || '') + (row[1] ? escape(row[1]) + ': ' : '') +
        '<b>' + escape(row[2]) + '</b>';
  }).join('<br>');
}
