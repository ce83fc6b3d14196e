// What `npm run test:mutation` breaks, by which tests it should be noticed, and how much of it at least.
import { globSync, readFileSync } from 'node:fs';

/**
 * `bound`: percent of the mutants that have to be noticed. `sample`: how many are tried at most; absent: all. A name that ends in `*`
 * is a glob.
 */
export const AREAS = {
  decisions: {
    files: ['src/graph/decisions/*.ts'],
    tests: [
      ...['test/graph/decisions/*.test.ts', 'test/graph/prompts/*.test.ts', 'test/playbooks/**/*.test.ts'],
      ...['test/simulation/!(soak).test.ts', 'test/report/*.test.ts'],
    ],
    bound: 95,
    sample: 500,
  },
  ledger: {
    files: [
      ...[
        'apply',
        'attempts',
        'claims',
        'events',
        'leases',
        'settle',
        'spending',
        'timers',
        'transactions',
        'runs',
        'store',
      ].map((name) => `src/substrate/ledger/${name}.ts`),
      ...['history', 'history-rules', 'history-mail-rules', 'check-database', 'damage', 'workspace-lock'].map(
        (name) => `src/substrate/ledger/${name}.ts`,
      ),
      'src/substrate/ledger/mail/*.ts',
    ],
    // Not the test that reads the source, which a mutant changes.
    tests: ['test/substrate/ledger/!(source-rules).test.ts', 'test/substrate/ledger/mail/*.test.ts'],
    bound: 95,
    sample: 500,
  },
  wiring: {
    files: [
      ...['check-gate', 'integrate-work', 'operations', 'publish-run'].map((name) => `src/operations/${name}.ts`),
      ...['guard', 'serve', 'front-door'].map((name) => `src/studio/${name}.ts`),
      'src/embed/squad-graph.ts',
      ...['start-attempt', 'supervisor'].map((name) => `src/attempts/${name}.ts`),
      ...['take-lease', 'halt-run', 'starts-in-time', 'task-fault'].map((name) => `src/engine/${name}.ts`),
      ...['apply', 'leases', 'settle'].map((name) => `src/substrate/ledger/${name}.ts`),
      'src/tracing/tracer.ts',
    ],
    tests: [
      'test/operations/*.test.ts',
      'test/checks/*.test.ts',
      'test/studio/{guard,front-door,served-door}.test.ts',
      'test/embed/*.test.ts',
      'test/attempts/*.test.ts',
      'test/engine/{take-lease,halt-run,starts-in-time,task-fault}.test.ts',
      'test/tracing/{redacted-spans,tracer}.test.ts',
      ...['settle', 'late-result', 'leases', 'apply', 'spending'].map(
        (name) => `test/substrate/ledger/${name}.test.ts`,
      ),
    ],
    // The tests of an abort are not in `npm test`.
    tags: '!night',
    bound: 90,
    sample: 500,
  },
  'path-guard': {
    files: ['src/substrate/files/confine.ts'],
    tests: ['test/security/s2-paths.test.ts'],
    bound: 100,
  },
};

/** Property tests are left out: the same mutants are to survive each time. */
export function testsOf({ tests }) {
  return globSync(tests).filter((path) => !readFileSync(path, 'utf8').includes('fast-check'));
}
