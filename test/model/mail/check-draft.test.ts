import { describe, expect, it } from 'vitest';
import { check } from './support.ts';
import { GOOD, wire } from './drafts.ts';

describe('a good message', () => {
  it.each(Object.entries(GOOD))('%s passes, and its body is kept as it was', (_name, good) => {
    expect(check(good.by, wire(good))).toMatchObject({
      ok: true,
      draft: { ...good.said, body: JSON.stringify(good.body) },
    });
  });
});
