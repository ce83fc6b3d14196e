// A checker for stryker that lets a seeded sample of the mutants through, and leaves out those that change no behaviour.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findEquivalent } from './equivalent.mjs';

const ROOT = process.env.SQUAD_MUTATION_ROOT ?? '';
const MOST = Number(process.env.SQUAD_MUTATION_SAMPLE ?? Infinity);
const SEED = process.env.SQUAD_MUTATION_SEED ?? '1';

/** Of all mutants of an area, `MOST` are let through: the same ones for the same seed and the same source. */
function createSample() {
  return {
    init: () => Promise.resolve(),
    // All at once: a share of them can be drawn only from all.
    group: (mutants) => Promise.resolve([mutants.map(({ id }) => id)]),
    check: (mutants) => {
      const drawn = mutants
        .map((mutant) => ({ mutant, rank: rankOf(mutant) }))
        .toSorted((a, b) => (a.rank < b.rank ? -1 : 1))
        .map(({ mutant }) => mutant);
      const sources = new Map();
      const verdicts = drawn.map((mutant, index) => [mutant.id, verdictOf(mutant, index, sources)]);
      return Promise.resolve(Object.fromEntries(verdicts));
    },
  };
}

function verdictOf(mutant, index, sources) {
  if (index >= MOST) return leftOut('not in the sample');
  const file = fileOf(mutant);
  // Not that of the sandbox, which holds all mutants.
  const source = sources.get(file) ?? readFileSync(join(ROOT, file), 'utf8').split('\n');
  sources.set(file, source);
  const equivalent = findEquivalent(file, source[mutant.location.start.line] ?? '', mutant);
  return equivalent === undefined ? { status: 'passed' } : leftOut(`equivalent: ${equivalent.why}`);
}

function leftOut(reason) {
  return { status: 'compileError', reason };
}

function rankOf(mutant) {
  const { start, end } = mutant.location;
  const place = [
    fileOf(mutant),
    start.line,
    start.column,
    end.line,
    end.column,
    mutant.mutatorName,
    mutant.replacement,
  ];
  return createHash('sha256')
    .update(JSON.stringify([SEED, ...place]))
    .digest('hex');
}

/** In the sandbox as in the checkout. */
function fileOf({ fileName }) {
  return fileName.slice(fileName.lastIndexOf('/src/') + 1);
}

export const strykerPlugins = [{ kind: 'Checker', name: 'sample', factory: createSample }];
