// Mutants that change no behaviour, each with its reason. They count neither as noticed nor as survivors.
import { readFileSync } from 'node:fs';

/** `line`: the source line, trimmed; `from`: the replaced text, where the line has several of the same kind. */
const LIST = JSON.parse(readFileSync(new URL('equivalent.json', import.meta.url), 'utf8'));

export function findEquivalent(file, line, { mutatorName, replacement, location }) {
  const replaced = line.slice(
    location.start.column,
    location.end.line === location.start.line ? location.end.column : undefined,
  );
  return LIST.find(
    (one) =>
      one.file === file &&
      one.line === line.trim() &&
      one.mutator === mutatorName &&
      one.to === replacement &&
      (one.from ?? replaced) === replaced,
  );
}
