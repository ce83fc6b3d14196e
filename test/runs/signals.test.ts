// @module-tag all
import { describe, it } from 'vitest';
import { ALL } from '../support/lane.ts';
import { NO_TERMINAL, SIGNAL_TRIALS } from './signal-trials.ts';

/** What Ctrl-C and SIGTERM do is tried on one run in stopping.test.ts; all of them many times in the chaos lane. */
const THERE = new Set(['Ctrl-C once', 'Ctrl-C twice', 'Ctrl-C thrice', 'SIGTERM']);

/** SIGTERM and the terminal that goes away take the same way, and so do closed streams and a reader that leaves. */
const LONG = new Set(['SIGHUP', '200 resizes, then Ctrl-C', 'closed stdin, stdout and stderr']);

describe.concurrent('T21: a run whose terminal, reader or user ends it', { timeout: 240_000 }, () => {
  for (const { name, needsTerminal, perform } of SIGNAL_TRIALS) {
    if (THERE.has(name)) continue;
    if (needsTerminal === true && NO_TERMINAL !== undefined) it.skip(`T21 ${name} (${NO_TERMINAL})`);
    else it(`T21 ${name}`, LONG.has(name) ? ALL : {}, perform);
  }
});
