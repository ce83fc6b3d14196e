// What `npm run test:mutation` breaks, by which tests it should be noticed, and how much of it at least.
import { globSync } from 'node:fs';

/**
 * `bound`: percent of the mutants that have to be noticed. `sample`: how many are tried at most; absent: all. A name that ends in `*`
 * is a glob.
 */
export const AREAS = {
  decisions: {
    files: ['src/rules/*.ts'],
    tests: [
      ...['test/rules/*.test.ts', 'test/rules/prompts/*.test.ts', 'test/playbooks/**/*.test.ts'],
      ...['test/simulation/!(soak).test.ts', 'test/view/report/*.test.ts'],
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
      ...['history-rules', 'check-database', 'damage', 'workspace-lock'].map(
        (name) => `src/substrate/ledger/${name}.ts`,
      ),
      'src/substrate/ledger/mail/*.ts',
    ],
    // Not the test that reads the source, which a mutant changes, nor those that kill processes or copy large files again and again.
    tests: [
      ...[
        'apply',
        'check-database',
        'claims',
        'damage',
        'fold',
        'history-checker',
        'inputs',
        'late-result',
        'leases',
        'model',
        'open-db',
        'order',
        'refusals',
        'settle',
        'spending',
        'storage-full',
        'store',
        'workspace-lock',
      ].map((name) => `test/substrate/ledger/${name}.test.ts`),
      'test/substrate/ledger/mail/!(kills|many).test.ts',
    ],
    bound: 95,
    sample: 500,
  },
  // The wiring: from operations to the gate, from a request to the guard, from an abort to the cancel, settlements and fences.
  gate: {
    files: ['check-gate', 'integrate-work', 'publish-run'].map((name) => `src/operations/${name}.ts`),
    tests: ['test/engine/operations/{check-gate,integrate-work,publish-answers}.test.ts'],
    bound: 90,
  },
  door: {
    files: ['guard', 'serve', 'front-door'].map((name) => `src/studio/${name}.ts`),
    tests: ['test/studio/{guard,decide-request,front-door}.test.ts'],
    bound: 90,
  },
  abort: {
    files: ['src/embed/squad-graph.ts'],
    tests: ['test/embed/squad-graph-calls.test.ts'],
    bound: 90,
  },
  turns: {
    files: ['src/engine/attempts/start-attempt.ts', 'src/engine/attempts/supervisor.ts', 'src/engine/take-lease.ts'],
    tests: ['test/engine/attempts/{start-attempt,settle-turns,tool-errors}.test.ts', 'test/engine/take-lease.test.ts'],
    bound: 90,
  },
  fences: {
    files: ['apply', 'leases', 'settle'].map((name) => `src/substrate/ledger/${name}.ts`),
    tests: [
      'settle',
      'late-result',
      'leases',
      'apply',
      'spending',
      'inputs',
      'mail/send',
      'mail/turns',
      'mail/tick',
    ].map((name) => `test/substrate/ledger/${name}.test.ts`),
    bound: 90,
  },
  'path-guard': {
    files: ['src/substrate/system/files/confine.ts'],
    tests: ['test/security/s2-paths.test.ts'],
    bound: 100,
  },
};

export function testsOf({ tests }) {
  return globSync(tests);
}
