import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunRoom } from './run-room.ts';
import { stateOf } from './state.ts';

/** The files for people of a room's run, by their paths, but for times and ids. The reports have their own tests, and ports differ. */
export function readableFiles(room: RunRoom): Readonly<Record<string, string>> {
  const id = room.reading()?.row.id ?? '';
  const folder = join(stateOf(room.repository), 'runs', id);
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
  const files = names.filter(
    (name) => /\.\w+$/.test(name) && !/^(?:report\.|armory\/|engine\.log|ports\.json)/.test(name),
  );
  const seen = files.toSorted().map((name): [string, string] => {
    const text = readFileSync(join(folder, name), 'utf8').replaceAll(id, '<run>');
    return name.startsWith('history/')
      ? turnOf(name, text)
      : [name, name === 'state.json' ? readableState(text) : withoutIds(text)];
  });
  // A try that never came to run has no file, and its number is gone.
  const counted = Map.groupBy(seen, ([name]) => name);
  const named = [...counted].flatMap(([name, all]) => all.map(([, text], at) => [`${name} ${at + 1}`, text] as const));
  return Object.fromEntries(named.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function turnOf(name: string, text: string): [string, string] {
  const [, about = '', number = ''] = /^history\/[\dT-]+Z-(.+)-(\d+)\.md$/.exec(name) ?? [];
  const task = /^task: "(.*)"$/m.exec(text)?.[1] ?? '';
  return [
    `history/${about}`,
    withoutIds(text)
      .replaceAll(`${task}-${number}`, `${task}-<attempt>`)
      .replace(/^attempt: \d+$/m, 'attempt: <attempt>')
      .replaceAll(/^(started|ended): .*$/gm, '$1: <time>'),
  ];
}

function readableState(text: string): string {
  return withoutIds(text)
    .replaceAll(/"(started_at|ended_at)": ".*"/g, '"$1": "<time>"')
    .replace(/"elapsed_seconds": \d+/, '"elapsed_seconds": "<time>"');
}

/** Commits, which have times in them, and the part of an attempt's id that its run gives it. */
function withoutIds(text: string): string {
  return text.replaceAll(/\b[0-9a-f]{40}\b|\b[0-9a-f]{12}\b/g, '<commit>').replaceAll(/\.[0-9a-f]{6}\./g, '.<run>.');
}
