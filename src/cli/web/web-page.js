'use strict';

/* Follows the page's run by server-sent events, and sends what a person does. Everything shown was made by the server. */

const main = document.querySelector('#main');
const news = document.querySelector('#news');
const said = document.querySelector('#said');
const live = document.querySelector('#live');

let version = document.body.dataset.version;
let source;

/** A page that is not seen holds no connection: browsers allow few to one server. */
function follow() {
  if (source !== undefined) source.close();
  source = undefined;
  if (document.hidden) return;
  source = new EventSource(`${document.body.dataset.events}?since=${encodeURIComponent(version)}`);
  source.addEventListener('page', (event) => {
    version = event.lastEventId;
    show(JSON.parse(event.data));
    say(live, 'This page follows the run.');
    live.classList.remove('attention');
  });
  source.addEventListener('error', () => {
    live.classList.add('attention');
    say(live, 'This page does not follow the run now: squad watch --web has ended, or is busy. It tries again.');
  });
}

function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function show({ title, news: sentence, order, regions }) {
  document.title = title;
  say(news, sentence);
  const focused = document.activeElement;
  const growing = growingLists();
  const scrolledUp = growing.filter((list) => !isAtEnd(list));
  for (const [id, html] of Object.entries(regions)) {
    const next = parse(html);
    const now = document.getElementById(id);
    if (now === null) main.append(next);
    else morph(now, next);
  }
  for (const one of [...main.children]) if (!order.includes(one.id)) one.remove();
  order.forEach((id, index) => {
    const one = document.getElementById(id);
    if (one !== null && main.children[index] !== one) main.insertBefore(one, main.children[index] ?? null);
  });
  // What had the focus may be gone: its part of the page has it then.
  if (focused !== null && focused !== document.body && document.activeElement !== focused) {
    const again = document.contains(focused) ? focused : (document.querySelector('#waiting-title') ?? main);
    again.focus({ preventScroll: true });
  }
  for (const list of document.querySelectorAll('[data-own][data-key]')) listComments(list);
  for (const list of new Set([...growing, ...growingLists()])) if (!scrolledUp.includes(list)) toEnd(list);
}

function growingLists() {
  return [...document.querySelectorAll('[data-follow]')];
}

/** A list that grows stays at its end, unless the person has scrolled up in it. */
function isAtEnd({ scrollTop, clientHeight, scrollHeight }) {
  return scrollTop + clientHeight >= scrollHeight - 8;
}

function toEnd(list) {
  list.scrollTop = list.scrollHeight;
}

function parse(html) {
  const template = document.createElement('template');
  template.innerHTML = html;
  return template.content.firstElementChild;
}

/** Makes one element like another and keeps what a person did in it: focus, texts, what is open. */
function morph(now, next) {
  if (now.isEqualNode(next) || now.hasAttribute('data-own')) return;
  for (const { name } of [...now.attributes]) {
    if (!next.hasAttribute(name) && !(name === 'open' && now.localName === 'details')) now.removeAttribute(name);
  }
  for (const { name, value } of next.attributes) {
    if (now.getAttribute(name) !== value && !(name === 'open' && now.localName === 'details')) {
      now.setAttribute(name, value);
    }
  }
  if (now.localName === 'textarea') return;
  const keys = new Set([...next.children].map(keyOf));
  const kept = new Map();
  for (const one of [...now.children]) {
    const key = keyOf(one);
    if (key === undefined) continue;
    if (keys.has(key)) kept.set(key, one);
    else one.remove();
  }
  let at = now.firstChild;
  for (const want of [...next.childNodes]) {
    const key = want instanceof Element ? keyOf(want) : undefined;
    const have = key === undefined ? (isLike(at, want) ? at : null) : (kept.get(key) ?? null);
    if (have === null) {
      now.insertBefore(want, at);
      continue;
    }
    if (have === at) at = at.nextSibling;
    else now.insertBefore(have, at);
    if (have instanceof Element) morph(have, want);
    else if (have.nodeValue !== want.nodeValue) have.nodeValue = want.nodeValue;
  }
  while (at !== null) {
    const after = at.nextSibling;
    at.remove();
    at = after;
  }
}

function keyOf(element) {
  return element.dataset.key;
}

function isLike(one, other) {
  if (one === null || one.nodeType !== other.nodeType) return false;
  return !(one instanceof Element) || (one.localName === other.localName && keyOf(one) === undefined);
}

/* A person's acts. */

document.addEventListener('submit', (event) => {
  const form = event.target;
  event.preventDefault();
  if (form.dataset.comment !== undefined) addComment(form);
  else if (form.dataset.act !== undefined) void send(form, event.submitter);
});

async function send(form, submitter) {
  const { act } = form.dataset;
  const given = Object.fromEntries(new FormData(form, submitter));
  if (form.elements.now !== undefined) given.now = form.elements.now.checked;
  if (act === 'review') {
    given.comments = commentsOf(given.task);
    if (given.comments.length === 0) return tell('There is no comment in this review yet.', true);
  }
  // One name for each text: sent twice, it counts once.
  const text = JSON.stringify(given);
  if (form.sent !== text) Object.assign(form, { sent: text, key: crypto.randomUUID() });
  const buttons = [...form.querySelectorAll('button')];
  for (const button of buttons) button.disabled = true;
  try {
    const response = await fetch(act, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...given, key: form.key }),
    });
    const body = await answerOf(response);
    if (!response.ok) return tell(`${body.error}\nNext: ${body.next}`, true);
    tell(body.said, false);
    if (act === 'review') keepComments(given.task, []);
    form.reset();
    form.sent = undefined;
  } catch {
    tell('It could not be sent: squad watch --web does not answer.\nNext: start it again in the terminal.', true);
  } finally {
    for (const button of buttons) button.disabled = false;
  }
}

/** The guard answers in plain text. */
async function answerOf(response) {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return { error: text.trim(), next: 'open the address that squad watch --web printed.' };
  }
}

function tell(text, isProblem) {
  said.classList.toggle('bad', isProblem);
  said.textContent = text;
}

/* Comments on lines: they stay in this tab until they are sent. */

const store = `squad-comments ${location.pathname.split('/').slice(2).join('/')}`;

function readComments() {
  try {
    return JSON.parse(sessionStorage.getItem(store) ?? '{}');
  } catch {
    return {};
  }
}

function commentsOf(task) {
  return readComments()[task] ?? [];
}

function keepComments(task, comments) {
  sessionStorage.setItem(store, JSON.stringify({ ...readComments(), [task]: comments }));
  const work = [...document.querySelectorAll('[data-work]')].find((one) => one.dataset.work === task);
  const list = work?.querySelector('ul[data-own]');
  if (list) listComments(list);
}

function addComment(form) {
  const file = form.closest('[data-path]');
  const { task, path } = { task: form.closest('[data-work]').dataset.work, path: file.dataset.path };
  const { line, text } = form.elements;
  const shown = file.querySelector(`[data-line="${Number(line.value)}"] code`);
  if (shown === null) {
    tell(
      `Line ${line.value} of ${path} is not among the lines that are shown.\nNext: choose a number from the diff.`,
      true,
    );
    return line.focus();
  }
  const number = Number(line.value);
  const place = { path, line: Math.abs(number), deleted: number < 0 };
  keepComments(task, [...commentsOf(task), { ...place, quote: shown.textContent.slice(1), text: text.value }]);
  tell(`Added to the review of ${task}: line ${number} of ${path}.`, false);
  form.reset();
}

function listComments(list) {
  const { work: task } = list.closest('[data-work]').dataset;
  const comments = commentsOf(task);
  const text = JSON.stringify(comments);
  if (list.dataset.shown === text) return;
  list.dataset.shown = text;
  list.replaceChildren(
    ...comments.map(({ path, line, deleted, text: own }, index) => {
      const number = deleted ? -line : line;
      const item = document.createElement('li');
      const place = document.createElement('code');
      place.textContent = `${path}:${number}`;
      const remove = document.createElement('button');
      remove.type = 'button';
      remove.textContent = 'Remove';
      remove.setAttribute('aria-label', `Remove the comment on line ${number} of ${path}`);
      remove.addEventListener('click', () => {
        keepComments(
          task,
          commentsOf(task).filter((_, at) => at !== index),
        );
        list.closest('form').querySelector('button:last-of-type').focus();
      });
      item.append(place, ` ${own} `, remove);
      return item;
    }),
  );
}

/** A click on a line of a diff fills its number in. */
document.addEventListener('click', (event) => {
  const line = event.target instanceof Element ? event.target.closest('.pick') : null;
  if (line === null || String(getSelection()) !== '') return;
  const form = line.closest('[data-path]').querySelector('form');
  form.elements.line.value = line.dataset.line;
  form.elements.text.focus();
});

document.addEventListener('visibilitychange', follow);
for (const list of growingLists()) toEnd(list);
for (const list of document.querySelectorAll('[data-own][data-key]')) listComments(list);
follow();
