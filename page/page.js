// page.js - a document of sections (see src/report/page.h) as a page:
// headings, words, tables that sort, figures that are drawn when they come
// into view. All text is set as text, never as HTML.
import { blocks } from './blocks.js';
import { redraw, drawAll, setPath } from './figures.js';
import { element } from './element.js';

function wantsDark() {
  return window.matchMedia('(prefers-color-scheme: dark)');
}

function setTheme(dark) {
  document.documentElement.setAttribute('data-theme', dark ? 'dark' : 'light');
  redraw(dark);
}

function isDark() {
  return document.documentElement.getAttribute('data-theme') === 'dark';
}

function themeButton() {
  var button = element('button', { class: 'theme', type: 'button' },
                       ['Light / dark']);
  button.onclick = function () { setTheme(!isDark()); };
  return button;
}

// Charts against tau: evenly in the barrier, or in tau itself.
function pathButton(map) {
  var button = element('button', { class: 'path', type: 'button' });
  var over = false;
  function turn() {
    over = !over;
    setPath(over ? map : null);
    button.textContent = over ? 'tau by barrier' : 'tau as it is';
    button.title = (over ? 'Charts against tau are spaced by the communication ' +
      'barrier: equal steps are equally hard. ' : '') + 'Click to change.';
  }
  button.onclick = turn;
  turn();
  return button;
}

// "Table 2. log Z of the galaxy models" is found by its number.
function shortHeading(heading) {
  return heading.replace(/^((?:Table|Figure) \w+)\. .*/, '$1');
}

function contents(sections) {
  return element('nav', { 'aria-label': 'Contents' },
                 sections.map(function (section, i) {
                   return element('a', { href: '#s' + i,
                                         title: section.heading },
                                  [shortHeading(section.heading)]);
                 }));
}

function sectionOf(section, i) {
  return element('section', { id: 's' + i },
                 [element('h2', {}, [section.heading])]
                   .concat((section.blocks || []).map(function (block) {
                     return blocks[block.type](block);
                   })));
}

// Paper is white and has no scrolling: all figures, in light colours.
function printing() {
  var before;
  window.addEventListener('beforeprint', function () {
    before = isDark();
    document.documentElement.className = 'printing';
    setTheme(false);
    drawAll();
  });
  window.addEventListener('afterprint', function () {
    document.documentElement.className = '';
    setTheme(before);
  });
}

export function show(page) {
  var sections = page.sections || [];
  document.title = page.title;
  document.getElementById('page').appendChild(element('div', {}, [
    element('header', {}, [
      element('h1', {}, [page.title]),
      element('p', { class: 'subtitle' }, [page.subtitle || '']),
      element('div', { class: 'buttons' },
              (page.path ? [pathButton(page.path)] : []).concat([themeButton()])),
    ]),
    contents(sections),
    element('main', {}, sections.map(sectionOf)),
    element('footer', {}, [page.footer || '']),
  ]));
  setTheme(wantsDark().matches);
  wantsDark().addEventListener('change', function (event) {
    setTheme(event.matches);
  });
  printing();
}
