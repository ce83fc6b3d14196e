import { expect } from 'vitest';
import { isJsonObject } from '../../src/text/json.ts';
import { limitNotice } from '../../src/runtimes/shared/limit-notice.ts';
import { createRandom } from '../support/random.ts';
import { damagedTranscript, lyingTranscript } from '../support/transcript-fuzz.ts';
import { objectsIn, resultFrom, type Transcript } from '../support/transcripts.ts';

/** Damaged recordings: nothing throws, and what is called completed has the proof in it. Returns how many were. */
export function readDamaged(trials: number, seed: number): number {
  return trialsOf(trials, seed, (random) => {
    const transcript = damagedTranscript(random);
    const { outcome, text, failure } = resultFrom(transcript, random);
    expect(outcome === 'completed').toBe(failure === undefined);
    if (outcome !== 'completed') return false;
    expect(hasProof(transcript)).toBe(true);
    expect(text.trim()).not.toBe('');
    expect(limitNotice(text, 0)).toBeUndefined();
    return true;
  });
}

/** Lies: none is a success, and each has a typed reason. Returns 0. */
export function readLies(trials: number, seed: number): number {
  return trialsOf(trials, seed, (random) => {
    const transcript = lyingTranscript(random);
    const { outcome, failure } = resultFrom(transcript, random);
    expect([transcript.cli, transcript.lie, outcome]).toEqual([transcript.cli, transcript.lie, 'failed']);
    expect(failure?.kind).toEqual(expect.any(String));
    if (transcript.lie === 'a limit as the answer') {
      expect(['quota-exhausted', 'rate-limited', 'overloaded']).toContain(failure?.kind);
    }
    return false;
  });
}

/** By the text alone: the last word of its kind says that all went well, and the process agreed. */
function hasProof({ cli, stdout, code }: Transcript): boolean {
  const lines = objectsIn(stdout);
  if (code !== 0) return false;
  if (cli === 'antigravity') {
    const ends = lines.flatMap(({ event, result }) => (event === 'result' && isJsonObject(result) ? [result] : []));
    return ends.some(({ status }) => status === 'SUCCESS');
  }
  if (cli === 'claude') {
    const last = lines.findLast(({ type }) => type === 'result');
    return last?.['is_error'] === false && last['terminal_reason'] === 'completed';
  }
  return (
    lines.findLast(({ type }) => type === 'turn.completed' || type === 'turn.failed')?.['type'] === 'turn.completed'
  );
}

function trialsOf(trials: number, seed: number, one: (random: () => number) => boolean): number {
  let completed = 0;
  for (let trial = 0; trial < trials; trial += 1) {
    try {
      if (one(createRandom(seed * 1_000_003 + trial))) completed += 1;
    } catch (error) {
      throw new Error(`trial ${trial} of seed ${seed}`, { cause: error });
    }
  }
  return completed;
}
