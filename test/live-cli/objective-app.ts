/** A small web app that is half there: a server without its notes and without its page. */

const APP_OBJECTIVE = `# Objective: A guest book

## Goals

1. src/notes.mjs keeps the notes of guests
2. public/index.html shows them and takes new ones

## Success Criteria

- [ ] The newest note comes first (run: node check.mjs notes)
- [ ] The page is served, and names where it sends a note (run: node check.mjs page)
- [ ] A guest who leaves an empty note reads why it is not kept

## Constraints

- No package is added

## Context

server.mjs serves both, and is finished.
`;

const SERVER = `import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';

/** The page at /, the notes at /notes. */
export const app = createServer(async (request, response) => {
  const send = (status, type, body) => response.writeHead(status, { 'content-type': type }).end(body);
  try {
    if (request.url === '/') return send(200, 'text/html', readFileSync(new URL('public/index.html', import.meta.url)));
    if (request.url !== '/notes') return send(404, 'text/plain', 'not here');
    const { addNote, listNotes } = await import('./src/notes.mjs');
    if (request.method !== 'POST') return send(200, 'application/json', JSON.stringify(listNotes()));
    let note = '';
    for await (const chunk of request) note += chunk;
    return addNote(note) ? send(201, 'text/plain', 'kept') : send(400, 'text/plain', 'empty');
  } catch (error) {
    return send(500, 'text/plain', String(error));
  }
});
`;

/** Asks the running server, as a browser would. */
const CHECK = `import { app } from './server.mjs';

const mustBe = (what, seen, expected) => {
  if (JSON.stringify(seen) !== JSON.stringify(expected)) throw new Error(what + ': ' + JSON.stringify(seen));
};
const parts = {
  notes: async (url) => {
    const post = async (body) => (await fetch(url + 'notes', { method: 'POST', body })).status;
    mustBe('answers', [await post('first'), await post('second'), await post(' ')], [201, 201, 400]);
    mustBe('notes', await (await fetch(url + 'notes')).json(), ['second', 'first']);
  },
  page: async (url) => {
    const page = await (await fetch(url)).text();
    mustBe('names of the page', ['<form', "fetch('/notes'"].filter((name) => !page.includes(name)), []);
  },
};
await new Promise((resolve) => app.listen(0, '127.0.0.1', resolve));
for (const part of process.argv.slice(2)) await parts[part]('http://127.0.0.1:' + app.address().port + '/');
console.log('right: ' + process.argv.slice(2).join(', '));
process.exit(0);
`;

export const APP_FILES = { 'objective.md': APP_OBJECTIVE, 'server.mjs': SERVER, 'check.mjs': CHECK };

const notes = (listed: string): string => `const kept = [];

export function addNote(text) {
  if (text.trim() === '') return false;
  kept.push(text);
  return true;
}

export function listNotes() {
  return ${listed};
}
`;

const page = (refused: string): string => `<!doctype html>
<title>Guest book</title>
<form><input name="note"><button>Leave a note</button></form>
<p id="told"></p>
<ol id="notes"></ol>
<script type="module">
  const form = document.querySelector('form');
  const told = document.querySelector('#told');
  const show = async () => {
    const notes = await (await fetch('/notes')).json();
    document.querySelector('#notes').replaceChildren(...notes.map((note) => {
      const item = document.createElement('li');
      item.textContent = note;
      return item;
    }));
  };
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const answer = await fetch('/notes', { method: 'POST', body: form.elements.note.value });
    told.textContent = answer.ok ? 'Thank you.' : ${refused};
    await show();
  });
  await show();
</script>
`;

/** What builders deliver: the first draft of the notes is rejected in review, that of the page when the whole is judged. */
export const NOTES = {
  id: 'notes',
  path: 'src/notes.mjs',
  draft: notes('[...kept]'),
  right: notes('kept.toReversed()'),
};
export const PAGE = {
  id: 'page',
  path: 'public/index.html',
  draft: page('`Error ${answer.status}`'),
  right: page("'Write something first: an empty note is not kept.'"),
};
