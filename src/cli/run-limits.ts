import { SquadError } from '../model/errors.ts';
import { someLimitsSchema, type SomeLimits } from '../model/settings.ts';

export interface LimitOptions {
  readonly parallel?: number;
  readonly maxMinutes?: number;
  readonly maxUsd?: number;
  readonly maxTurns?: number;
  readonly maxTokens?: number;
}

const OPTIONS: Readonly<Record<string, string>> = {
  parallel: '--parallel',
  minutes: '--max-minutes',
  usd: '--max-usd',
  turns: '--max-turns',
  tokens: '--max-tokens',
};

/** Limits of the command line. Throws `usage`, naming the option, for one that squad.yaml would not take either. */
export function limitsOf({ parallel, maxMinutes, maxUsd, maxTurns, maxTokens }: LimitOptions): SomeLimits {
  const given = { parallel, minutes: maxMinutes, usd: maxUsd, turns: maxTurns, tokens: maxTokens };
  const parsed = someLimitsSchema.safeParse(
    Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  );
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new SquadError({
    code: 'usage',
    message: `${OPTIONS[String(issue?.path[0])] ?? 'a limit'}: ${issue?.message ?? 'cannot be used'}`,
    next: 'Run the command with --help for its options.',
  });
}
