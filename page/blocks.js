// blocks.js - the parts of a section, by their `type`.
import { element } from './element.js';
import { figureBox, release } from './figures.js';

function text(block) {
  return element('p', { class: block.tone || '' }, [block.text]);
}

function list(block) {
  return element('ul', {}, block.items.map(function (item) {
    return element('li', {}, [item]);
  }));
}

// A cell is text, or {text, value} where it sorts by a number.
function words(cell) {
  return cell && typeof cell === 'object' ? cell.text : String(cell);
}

function rank(cell) {
  if (!cell || typeof cell !== 'object')
    return String(cell);
  return typeof cell.value === 'number' ? cell.value : null;
}

// Absent numbers stay at the end in both directions.
function compare(a, b, down) {
  if (a === null || b === null)
    return (a === null) - (b === null);
  var order = typeof a === 'number' && typeof b === 'number' ? a - b
    : String(a).localeCompare(String(b), undefined, { numeric: true });
  return down ? -order : order;
}

function rowOf(row, columns) {
  return element('tr', row.tone ? { class: row.tone } : {},
                 (row.cells || row).map(function (cell, i) {
                   return element(i === 0 ? 'th' : 'td',
                                  i === 0 ? { scope: 'row' }
                                    : columns[i].left ? { class: 'left' } : {},
                                  [words(cell)]);
                 }));
}

function fill(body, rows, columns) {
  while (body.firstChild)
    body.removeChild(body.firstChild);
  rows.forEach(function (row) { body.appendChild(rowOf(row, columns)); });
}

// columns: [{name, title, left}]; rows: lists of cells, or {cells, tone}.
function table(block) {
  var body = element('tbody');
  var heads = block.columns.map(function (column, i) {
    var button = element('button', { type: 'button' }, [column.name]);
    var head = element('th', { scope: 'col', title: column.title || '',
                               class: i === 0 || column.left ? 'left' : '' },
                       [button]);
    button.onclick = function () {
      var down = head.getAttribute('aria-sort') === 'ascending';
      heads.forEach(function (other) { other.removeAttribute('aria-sort'); });
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      fill(body, block.rows.slice().sort(function (a, b) {
        return compare(rank((a.cells || a)[i]), rank((b.cells || b)[i]), down);
      }), block.columns);
    };
    return head;
  });
  fill(body, block.rows, block.columns);
  return element('div', { class: 'table' }, [
    element('table', {}, [element('thead', {}, [element('tr', {}, heads)]),
                          body]),
    element('p', { class: 'note' }, [block.note || '']),
  ]);
}

function figures(block) {
  return element('div', { class: 'figures' }, block.figures.map(figureBox));
}

// choices: [{name, figures}], of which the first `shown` are on the page
// until another is chosen.
function gallery(block) {
  var holder = element('div');
  var first = Math.min(block.shown || block.choices.length,
                       block.choices.length);
  function put(choices) {
    release(holder);
    while (holder.firstChild)
      holder.removeChild(holder.firstChild);
    choices.forEach(function (choice) {
      holder.appendChild(element('h3', {}, [choice.name]));
      holder.appendChild(figures(choice));
    });
  }
  put(block.choices.slice(0, first));
  if (block.choices.length <= 1)
    return holder;
  var select = element('select', {},
    [element('option', { value: '-1' }, [block.first])].concat(
      block.choices.map(function (choice, i) {
        return element('option', { value: String(i) }, [choice.name]);
      })));
  select.onchange = function () {
    var i = Number(select.value);
    put(i < 0 ? block.choices.slice(0, first) : [block.choices[i]]);
  };
  return element('div', {}, [
    element('label', { class: 'choose' }, [block.label + ' ', select]), holder,
  ]);
}

export var blocks = { text: text, list: list, table: table, figures: figures,
                      gallery: gallery };
