import { z } from 'zod';
import { isNotDone } from '../../ports/forge-answer.ts';
import type { Check, ForgePulls } from '../../ports/forge-pulls.ts';
import { readValue as value } from './api-answer.ts';
import type { CallApi } from './gh-api.ts';

/** A MiB is all that squad would read of a log, and its end says why it failed. */
const LOG_BYTES = 262_144;

const runSchema = z.object({
  __typename: z.literal('CheckRun'),
  databaseId: z.int(),
  name: z.string(),
  status: z.string(),
  conclusion: z.string().nullable(),
  checkSuite: z
    .object({
      app: z.object({ slug: z.string() }).nullable(),
      workflowRun: z.object({ workflow: z.object({ name: z.string() }) }).nullable(),
    })
    .nullable(),
});
const statusSchema = z.object({
  __typename: z.literal('StatusContext'),
  id: z.string(),
  context: z.string(),
  state: z.string(),
});
export const checkSchema = z.discriminatedUnion('__typename', [runSchema, statusSchema]);

const PASSED = ['SUCCESS', 'NEUTRAL', 'SKIPPED'];
/** A person has to allow it to run. */
const PENDING = ['PENDING', 'EXPECTED', 'ACTION_REQUIRED'];

function stateOf(word: string): Check['state'] {
  return PASSED.includes(word) ? 'passed' : PENDING.includes(word) ? 'pending' : 'failed';
}

export function checkOf(read: z.infer<typeof checkSchema>): Check {
  if (read.__typename === 'StatusContext')
    return { name: read.context, id: `status/${read.id}`, state: stateOf(read.state), canRepeat: false };
  const { name, databaseId, status, conclusion, checkSuite } = read;
  const workflow = checkSuite?.workflowRun?.workflow.name;
  return {
    // Two workflows may have a job of one name.
    name: workflow === undefined ? name : `${workflow} / ${name}`,
    id: String(databaseId),
    state: status === 'COMPLETED' ? stateOf(conclusion ?? '') : 'pending',
    canRepeat: checkSuite?.app?.slug === 'github-actions',
  };
}

/** The log of a job of GitHub's own, or what another application says of its check. */
export async function logOf(call: CallApi, { id, canRepeat }: Check): ReturnType<ForgePulls['log']> {
  if (id.startsWith('status/')) return { type: 'log', text: '' };
  if (canRepeat) return jobLog(call, id);
  const jq = '{text: ([.output.title, .output.summary, .output.text] | map(. // "") | join("\\n") | .[:20000])}';
  const answer = await call({ path: `check-runs/${id}`, jq });
  return value(answer, z.object({ text: z.string() }), ({ text }) => ({ type: 'log', text: text.trim() }));
}

async function jobLog(call: CallApi, id: string): ReturnType<ForgePulls['log']> {
  const path = `actions/jobs/${id}/logs`;
  const first = await call({ path, range: `0-${LOG_BYTES - 1}` });
  // A log is removed after some weeks.
  if (first.type === 'gone') return { type: 'log', text: '' };
  if (first.type !== 'ok') return isNotDone(first) ? first : { type: 'log', text: '' };
  const { total = 0 } = first;
  if (total <= LOG_BYTES) return { type: 'log', text: first.text };
  const last = await call({ path, range: `${total - LOG_BYTES}-${total - 1}` });
  return last.type === 'ok' ? { type: 'log', text: last.text } : isNotDone(last) ? last : { type: 'log', text: '' };
}
