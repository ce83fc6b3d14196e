import { z } from 'zod';
import type { ApiAnswer } from './api-answer.ts';
import { refused, said } from './remotes.ts';

/** GraphQL answers 200 also where it did nothing. */
export function graphqlAnswer(answer: ApiAnswer): ApiAnswer {
  if (answer.type !== 'ok') return answer;
  const { errors } = z
    .object({ errors: z.array(z.object({ type: z.string().optional(), message: z.string() })).default([]) })
    .catch({ errors: [] })
    .parse(answer.body);
  const [first] = errors;
  if (first === undefined) return answer;
  const why = said(first.message).slice(0, 300);
  return first.type === 'NOT_FOUND' ? { type: 'gone', why } : refused(`the forge refuses it: ${why}`);
}
