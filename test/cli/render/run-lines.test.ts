import { describe, expect, it } from 'vitest';
import { renderRunEvent } from '../../../src/cli/render/run-lines.ts';

describe('a line of a run', () => {
  it('keeps the reasons of several tasks apart', () => {
    const why = 'cli: rejected in round 4 of 4\nverify: it needs cli, which failed';
    expect(renderRunEvent({ type: 'decided', at: 1, runId: 'r', next: 'finish', why })).toBe(
      'finish    cli: rejected in round 4 of 4; verify: it needs cli, which failed',
    );
  });
});
