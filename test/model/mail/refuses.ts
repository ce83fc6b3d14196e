import { describe, expect, it } from 'vitest';
import type { MailReason } from '../../../src/model/mail/vocabulary.ts';
import type { Draft } from './drafts.ts';
import { check } from './support.ts';

/** One fault, and the refusal that names it: `rule` is part of what it says. */
export type Malformed = readonly [
  what: string,
  by: Pick<Draft, 'by'>,
  draft: unknown,
  field: string,
  rule: string,
  reason?: MailReason,
];

export function refuses(stage: string, cases: readonly Malformed[]): void {
  describe(`refused for its ${stage}`, () => {
    for (const [what, { by }, draft, field, rule, reason = 'invalid_format'] of cases) {
      it(what, () => {
        expect(check(by, draft)).toEqual({
          ok: false,
          refusal: { reason, field, rule: expect.stringContaining(rule) },
        });
      });
    }
  });
}
