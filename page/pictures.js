// pictures.js - the pictures of docs/gallery, cut out of reports:
//   node pictures.js RUNS GALLERY   (RUNS: where `make docs` kept its runs)
import { drawAll, openBrowser, openPage } from './test/browser.js';

var [runs, gallery] = process.argv.slice(2);
// picture: [report, title of the figure, parameter to choose first]
var pictures = {
  exchange: ['exchange/two', 'Marginal', 'below[8]'],
  coal: ['coal/one', 'Probabilities', 's'],
  turtles: ['turtles/with', 'Parameters'],
  galaxy: ['galaxy/three', 'mu'],
  sir: ['sir/sir', 'Pairs of parameters'],
};

var browser = await openBrowser();
for (var [name, [report, title, choice]] of Object.entries(pictures)) {
  var { page } = await openPage(browser, runs + '/' + report + '/report.html',
                                { viewport: { width: 900, height: 900 } });
  if (choice)
    await page.selectOption('.choose select', { label: choice });
  await drawAll(page);
  var holder = name === 'galaxy'
    ? page.locator('section', { hasText: 'Labels of interchangeable' }) : page;
  await holder.locator('figure', { hasText: title }).first()
    .screenshot({ path: gallery + '/' + name + '.png' });
  await page.close();
}
await browser.close();
