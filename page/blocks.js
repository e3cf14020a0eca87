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

var few = 20; // rows that a long table shows at first

// Long tables: a field that finds rows by name, and a button for the rest.
function finder(block, show) {
  var field = element('input', { type: 'search', placeholder: 'find by name',
                                 'aria-label': 'Find rows by name' });
  var count = element('span', { class: 'note' });
  var more = element('button', { type: 'button' });
  var all = false;
  function refresh() {
    var wanted = field.value.toLowerCase();
    var rows = block.sorted.filter(function (row) {
      return words((row.cells || row)[0]).toLowerCase().indexOf(wanted) >= 0;
    });
    var limit = all ? 1000 : few;
    show(rows.slice(0, limit));
    count.textContent = rows.length > limit
      ? limit + ' of ' + rows.length + ' rows ' : rows.length + ' rows ';
    more.textContent = all ? 'show few' : 'show all';
    more.style.display = rows.length > few ? '' : 'none';
  }
  field.oninput = refresh;
  more.onclick = function () { all = !all; refresh(); };
  refresh();
  return { box: element('p', { class: 'find' }, [field, ' ', count, more]),
           refresh: refresh };
}

// columns: [{name, title, left}]; rows: lists of cells, or {cells, tone}.
function plainTable(block) {
  var body = element('tbody');
  var find = null;
  block.sorted = block.rows;
  var heads = block.columns.map(function (column, i) {
    var button = element('button', { type: 'button' }, [column.name]);
    var head = element('th', { scope: 'col', title: column.title || '',
                               class: i === 0 || column.left ? 'left' : '' },
                       [button]);
    button.onclick = function () {
      var down = head.getAttribute('aria-sort') === 'ascending';
      heads.forEach(function (other) { other.removeAttribute('aria-sort'); });
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      block.sorted = block.rows.slice().sort(function (a, b) {
        return compare(rank((a.cells || a)[i]), rank((b.cells || b)[i]), down);
      });
      if (find)
        find.refresh();
      else
        fill(body, block.sorted, block.columns);
    };
    return head;
  });
  if (block.rows.length > few)
    find = finder(block, function (rows) { fill(body, rows, block.columns); });
  else
    fill(body, block.rows, block.columns);
  return element('div', {}, (find ? [find.box] : []).concat([
    element('div', { class: 'table' }, [
      element('table', {}, [element('thead', {}, [element('tr', {}, heads)]),
                            body])]),
    element('p', { class: 'note' }, [block.note || '']),
  ]));
}

// fold: the words under which a table is hidden until it is opened.
function table(block) {
  if (!block.fold)
    return plainTable(block);
  var made = element('details', {}, [element('summary', {}, [block.fold])]);
  made.ontoggle = function () {
    if (made.children.length === 1)
      made.appendChild(plainTable(block));
  };
  return made;
}

// The number that the page is about: name, value, error, words; tone.
function answer(block) {
  return element('div', { class: 'answer ' + (block.tone || '') }, [
    element('p', { class: 'tag' }, [block.tag || '']),
    element('p', { class: 'number' }, [block.number || '']),
    element('p', {}, [block.text || '']),
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

export var blocks = { answer: answer, text: text, list: list, table: table, figures: figures,
                      gallery: gallery };
