import { describe, expect, it } from 'vitest';
import { nextSegment, type RunNeed } from '../../../src/squad/pool/next-segment.ts';

const NOW = 1_000_000;
const need = (more: Partial<RunNeed>): RunNeed => ({ need: 'cut', why: 'why', isHandedOn: false, ...more });
const next = (more: Partial<RunNeed>, began = false) => nextSegment(need(more), { now: NOW, began });

describe('what a worker does with a run that no engine drives', () => {
  it.each(['answered', 'gone', 'begun', 'due', 'cut', 'queued'] as const)('works on it: %s', (one) => {
    expect(next({ need: one })).toBe('work');
    // Its engine has just ended here: another worker may have room for it.
    expect(next({ need: one }, true)).toEqual({ state: 'queued', why: null });
  });

  it.each(['asks', 'held', 'limited'] as const)('lets it wait for a person: %s', (one) => {
    expect(next({ need: one })).toEqual({ state: 'waiting', why: 'why' });
    expect(next({ need: one }, true)).toEqual({ state: 'waiting', why: 'why' });
  });

  it('works on one that only another worker has drained', () => {
    expect(next({ need: 'held', isHandedOn: true })).toBe('work');
    expect(next({ need: 'held', isHandedOn: true }, true)).toEqual({ state: 'queued', why: null });
  });

  it('lets it wait for a time, and works on it from then on', () => {
    expect(next({ need: 'waits', until: NOW + 1 })).toEqual({ state: 'waiting', why: 'why', again: NOW + 1 });
    expect(next({ need: 'waits', until: NOW })).toBe('work');
  });

  it('gives one back that is over', () => {
    expect(next({ need: undefined, why: 'DONE' })).toEqual({ state: 'over', why: 'DONE' });
  });
});
