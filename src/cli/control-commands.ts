import { fieldsOf, REQUEST_VERBS, requestOf, VERBS, type RequestVerb } from '../model/plan/verbs.ts';
import { nameOf } from '../text/flags.ts';
import { FLAGS, JSON_OBJECT, RUN_FLAG, RUN_WORD, type CommandContext, type RunNameOptions } from './command-context.ts';
import type { CommandRow, Commands } from './command-row.ts';

/** Verbs that do more at a terminal than to store a command. */
const MORE: Partial<Record<RequestVerb, Pick<CommandRow, 'flags' | 'load'>>> = {
  cancel: { flags: FLAGS.cancel, load: async () => (await import('./commands/run.ts')).cancel },
  retry: { flags: FLAGS.retry, load: async () => (await import('./commands/retry.ts')).retry },
};

/** Commands that answer or change a run from another terminal, with or without a running engine. */
export const CONTROL_COMMANDS: Commands = {
  answer: {
    about: 'Answer a question from a run.',
    examples: [
      'squad answer "try again"',
      'squad answer engine/auth/claude give up',
      'squad answer plan-1 --file plan.yaml',
      'squad answer --paths src/router.ts,docs "yes"',
    ],
    words: [
      ['[words...]', 'the question’s id and the answer; a single word or quoted text answers the only open question'],
    ],
    load: async () => (await import('./commands/answer.ts')).answer,
  },
  ...Object.fromEntries(REQUEST_VERBS.flatMap(commandOf)),
};

/** Without words of its own, a verb takes the run as one. */
function commandOf(verb: RequestVerb): [string, CommandRow][] {
  const { about, examples = [], words, flags = [] } = VERBS[verb];
  if (about === undefined) return [];
  const own = words === undefined ? [JSON_OBJECT] : [RUN_FLAG, JSON_OBJECT];
  const more = MORE[verb]?.flags ?? own;
  const load =
    MORE[verb]?.load ??
    (async () =>
      async (context, ...given) =>
        give(context, verb, given));
  const fields = Object.entries(fieldsOf(verb));
  const needs = fields.flatMap(([name, schema]) => (schema.safeParse(undefined).success ? [] : [name]));
  return [[verb, { about, examples, words: words ?? [RUN_WORD], flags: [...flags, ...more], needs, load }]];
}

/** `given`: the values of its words, then those of its flags. */
async function give(context: CommandContext, verb: RequestVerb, given: readonly unknown[]): Promise<void> {
  const { words } = VERBS[verb];
  const options = given[words?.length ?? 1] as RunNameOptions;
  const run = words === undefined ? (given[0] as string | undefined) : options.run;
  const named = (words ?? []).map((word, index) => [nameOf(word), given[index]]);
  const request = requestOf(verb, { ...options, ...Object.fromEntries(named) });
  await (await import('./commands/intervene.ts')).intervene(context, run, request, options);
}
