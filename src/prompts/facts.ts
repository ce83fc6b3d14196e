/**
 * The facts that a prompt may name, and their kinds. `line`: one line of text. `lines`: a list of them; in a sentence they are joined by
 * commas. `data`: words of others, which the renderer always puts between tags with the fact's name. `own`: text of squad.
 */
export const FACTS = {
  // The run.
  run: 'own',
  objective: 'data',
  team: 'lines',
  setup: 'lines',
  verify: 'lines',
  criteria: 'lines',
  // The conversation.
  name: 'line',
  role: 'own',
  roleName: 'line',
  language: 'line',
  further: 'own',
  furtherPath: 'line',
  // The task.
  id: 'line',
  title: 'line',
  task: 'data',
  files: 'lines',
  brief: 'own',
  acceptance: 'own',
  builders: 'line',
  proposes: 'line',
  touches: 'lines',
  delivered: 'lines',
  neighbours: 'lines',
  background: 'own',
  place: 'own',
  duties: 'lines',
  minutes: 'line',
  paths: 'line',
  // A duty.
  diff: 'line',
  diffIn: 'line',
  only: 'line',
  untouched: 'line',
  instead: 'line',
  file: 'line',
  document: 'line',
  sections: 'line',
  absent: 'line',
  command: 'line',
  pullRequest: 'line',
  // News.
  feedback: 'data',
  baseline: 'own',
  commit: 'line',
  commits: 'line',
  why: 'line',
  messages: 'own',
  more: 'line',
  checks: 'own',
  criteriaFailures: 'own',
  problems: 'data',
  merged: 'lines',
  attempts: 'lines',
  // A review.
  report: 'data',
  round: 'line',
  change: 'line',
  since: 'line',
  approved: 'line',
  cause: 'data',
  findings: 'data',
  answer: 'data',
  checkers: 'lines',
  categories: 'line',
  blocking: 'line',
  // A stage.
  isAgain: 'line',
  by: 'line',
  judges: 'line',
  before: 'line',
  path: 'line',
  roles: 'line',
  most: 'line',
  // A council.
  ofDocument: 'line',
  codePaths: 'lines',
  exists: 'line',
  again: 'line',
  issues: 'data',
  questions: 'data',
  members: 'line',
  silent: 'lines',
  assignment: 'data',
  outcome: 'data',
  // Mail.
  from: 'line',
  message: 'line',
  action: 'line',
  isVerification: 'line',
  morePaths: 'line',
} as const satisfies Readonly<Record<string, 'line' | 'lines' | 'data' | 'own'>>;

export type FactName = keyof typeof FACTS;

/** An empty text or list stands for a fact that there is none of. */
export type Fact<N extends FactName> = (typeof FACTS)[N] extends 'lines' ? readonly string[] : string;
