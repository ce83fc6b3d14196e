/** An option of `run` and `resume`, with commander's name for it. */
interface LimitFlag {
  readonly name: string;
  readonly option: keyof LimitOptions;
  readonly whole: boolean;
}

const flag = (name: string, option: keyof LimitOptions, whole = true): LimitFlag => ({ name, option, whole });

export type LimitKey =
  | 'minutes'
  | 'usd'
  | 'turns'
  | 'tokens'
  | 'parallel'
  | 'reviewRounds'
  | 'retries'
  | 'idleMinutes'
  | 'turnMinutes'
  | 'firstToolSeconds'
  | 'walls'
  | 'freeDisk'
  | 'unreplicated';

/** Every limit of `squad.yaml` that is a value of its own, without its schema, which takes longer to make than the options. */
export const LIMITS: readonly {
  readonly key: LimitKey;
  readonly about: string;
  readonly flag?: LimitFlag;
}[] = [
  { key: 'minutes', about: 'engine time of a run, over all resumes', flag: flag('--max-minutes', 'maxMinutes', false) },
  { key: 'usd', about: 'cost of a run, as far as the runtimes report it', flag: flag('--max-usd', 'maxUsd', false) },
  { key: 'turns', about: 'turns of a run', flag: flag('--max-turns', 'maxTurns') },
  { key: 'tokens', about: 'input and output tokens of a run', flag: flag('--max-tokens', 'maxTokens') },
  { key: 'parallel', about: 'turns at the same time', flag: flag('--parallel', 'parallel') },
  { key: 'reviewRounds', about: 'review rounds for one task' },
  { key: 'retries', about: 'retries of a task after a broken attempt' },
  { key: 'idleMinutes', about: 'longest silence of a turn' },
  { key: 'turnMinutes', about: 'longest turn' },
  { key: 'firstToolSeconds', about: 'longest time to the first tool call, for agents that have to act' },
  { key: 'walls', about: 'steps when a turn stalls, in this order' },
  { key: 'unreplicated', about: 'minutes of a run of a pool in which nothing of its work could be kept there' },
  { key: 'freeDisk', about: 'GB that stay free on the disk where folders wait for the next tasks' },
];

export type LimitOptions = {
  readonly [Name in 'parallel' | 'maxMinutes' | 'maxUsd' | 'maxTurns' | 'maxTokens']?: number;
};
