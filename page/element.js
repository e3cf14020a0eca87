// element('p', {class: 'note'}, ['text', child, ...])
export function element(name, attributes, children) {
  var made = document.createElement(name);
  for (var key in attributes)
    made.setAttribute(key, attributes[key]);
  (children || []).forEach(function (child) {
    made.appendChild(typeof child === 'object' ? child
                                               : document.createTextNode(child));
  });
  return made;
}
