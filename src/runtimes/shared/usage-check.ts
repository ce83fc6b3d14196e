import { usageSchema, type Usage } from '../../model/usage.ts';
import type { Verdict } from './cli-adapter.ts';

const MOST_TOKENS = 10_000_000_000;
const MOST_USD = 1_000_000;

/** More in one turn is no measurement. Low enough for the sum over a run to stay exact. */
const believableSchema = usageSchema.superRefine(({ costUsd = 0, ...tokens }, context) => {
  const tooMuch = (name: string): void => context.addIssue({ code: 'custom', path: [name], message: 'too much' });
  for (const [name, count = 0] of Object.entries(tokens)) if (count > MOST_TOKENS) tooMuch(name);
  if (costUsd > MOST_USD) tooMuch('costUsd');
});

/**
 * A verdict without numbers that cannot be true: negative, no number at all, or more than any turn uses. What is left out is
 * unknown, which is never zero; the work itself counts all the same. `onNotice` is told so.
 */
export function checkUsage(verdict: Verdict, onNotice: (text: string) => void): Verdict {
  const { usage: saidUsage, counters: saidCounters, ...rest } = verdict;
  const usage = plausible(saidUsage);
  const counters = plausible(saidCounters);
  const problems = [...new Set([...usage.wrong, ...counters.wrong])];
  if (problems.length === 0) return verdict;
  onNotice(`what the turn used is not known: its runtime said ${problems.join(', ')}`);
  return {
    ...rest,
    ...(usage.known === undefined ? {} : { usage: usage.known }),
    ...(counters.known === undefined ? {} : { counters: counters.known }),
  };
}

function plausible(said: Usage | undefined): { readonly known?: Usage; readonly wrong: readonly string[] } {
  const parsed = believableSchema.safeParse(said);
  if (said === undefined) return { wrong: [] };
  if (parsed.success) return { known: parsed.data, wrong: [] };
  const wrong = [...new Set(parsed.error.issues.map(({ path }) => String(path[0])))];
  const values: Readonly<Record<string, unknown>> = { ...said };
  const texts = wrong.map((name) => `${name} ${String(values[name])}`);
  // Tokens that can be true are not given up for money that cannot.
  const { costUsd: _, ...tokens } = said;
  const known = believableSchema.safeParse(tokens).data;
  return known === undefined ? { wrong: texts } : { known, wrong: texts };
}
