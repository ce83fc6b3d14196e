import { z } from 'zod';
import { usageError } from '../../model/errors.ts';
import { MOST_NOTE } from '../../model/plan/verbs.ts';
import { openAsks } from '../../squad/permission-asks.ts';
import { openRun } from '../../squad/open-run.ts';
import { squadOn } from '../../squad/squad.ts';
import { plainLine } from '../../text/plain-text.ts';
import { shellWord } from '../../text/shell-word.ts';
import { captured } from './captured-command.ts';
import { askingOn, needsPerson } from './needs-person.ts';
import { defineRunTool, RUN, type RunTool, type ToolContext } from './run-tool.ts';
import { resumeInBackground } from './start-tools.ts';

/** Tools that change a run, or the branch that gets its work. */
export const STEER_TOOLS: readonly RunTool[] = [
  defineRunTool({
    name: 'answer_question',
    title: 'Answer a question of a run',
    description:
      'Answer a question of a run, which then continues. For a plan: `stop`, or what to change; `approve` only where the person who set ' +
      'this server up allows it. Do not answer for the person what you do not know: ask them.',
    hints: { destructiveHint: false, openWorldHint: true },
    input: z.strictObject({
      run: RUN,
      question: z.string().min(1).max(300).exactOptional().describe('Its id. Default: the only open one.'),
      answer: z.string().min(1).max(60_000).describe('One of its options, or text.'),
    }),
    output: z.strictObject({
      run: z.string(),
      question: z.string(),
      answer: z.string(),
      still_open: z.array(z.string()).describe('Ids of other open questions.'),
      continues: z.boolean().describe('An engine works on the run.'),
    }),
    run: async (context, { run, question, answer }) => {
      const asked = await allowedQuestion(context, { run, question, answer });
      const { name, open, driven, ...found } = await squadOn(context.command.host).answer(
        asked.run,
        answer,
        asked.question,
      );
      const resumes = !driven && open.length === 0;
      if (resumes) await resumeInBackground(context, name);
      const left = open.map(({ id }) => id);
      const then =
        driven || resumes ? `${name} continues: run_status with wait_seconds 50.` : `Still open: ${left.join(', ')}.`;
      return {
        text: `Answered ${found.question}. ${then}`,
        found: {
          run: name,
          question: found.question,
          answer: found.answer,
          still_open: left,
          continues: driven || resumes,
        },
      };
    },
  }),
  defineRunTool({
    name: 'tell_agent',
    title: 'Write a note to an agent of a run',
    description:
      'Give an agent of a run a note. It reads it in its next turn; with now, its turn ends and it continues with the note.',
    hints: { destructiveHint: false, openWorldHint: false },
    input: z.strictObject({
      run: RUN,
      agent: z.string().min(1).max(100).describe('Such as builder-1.'),
      text: z.string().min(1).max(MOST_NOTE),
      now: z.boolean().default(false),
    }),
    output: z.strictObject({
      run: z.string(),
      agent: z.string(),
      driven: z.boolean().describe('An engine works on the run. false: resume_run is needed first.'),
    }),
    run: async ({ command }, { run, agent, text, now }) => {
      const { name, driven } = await squadOn(command.host).intervene(run, { verb: 'tell', agent, text, now });
      const then = driven ? '' : ' No engine works on the run: resume_run continues it.';
      return { text: `${agent} of ${name} gets the note.${then}`, found: { run: name, agent, driven } };
    },
  }),
  defineRunTool({
    name: 'merge_run',
    title: 'Merge the work of a run',
    description:
      'Merge the work of a run that is done into the branch that is checked out. Refused unless the person who set this server up ' +
      'allows it.',
    hints: { destructiveHint: true, openWorldHint: false },
    input: z.strictObject({
      run: RUN,
      squash: z.boolean().default(false).describe('Add one commit with all of the work.'),
    }),
    output: z.strictObject({
      run: z.string(),
      branch: z.string().describe('The branch that has the work now.'),
      how: z.string(),
      commit: z.string(),
    }),
    run: async ({ command, allowed }, { run, squash }) => {
      if (!allowed.has('merge')) {
        throw usageError(
          'this server may not merge',
          `A person does: \`squad merge${run === undefined ? '' : ` ${shellWord(plainLine(run))}`}\`. Or they set it up as \`squad mcp-server --allow merge\`.`,
        );
      }
      const { merge } = await import('../commands/merge.ts');
      const { objects } = await captured(command, async (inner) => merge(inner, run, { json: true, squash }));
      const { name, ...found } = mergedSchema.parse(objects[0]);
      return {
        text: `The work of ${name} is on ${found.branch}, at ${found.commit.slice(0, 12)}.`,
        found: { run: name, ...found },
      };
    },
  }),
];

const mergedSchema = z.object({ name: z.string(), branch: z.string(), how: z.string(), commit: z.string() });

/** The question by its id, so that no other one is answered. Throws `usage` if only a person may give this answer. */
async function allowedQuestion(
  { command: { host }, allowed }: ToolContext,
  given: { readonly run: string | undefined; readonly question: string | undefined; readonly answer: string },
): Promise<{ readonly run: string; readonly question: string }> {
  const opened = await openRun({ host }, given.run);
  const { row, questions, board } = opened.reading;
  const asks = (await openAsks(opened)).map(({ id }) => id);
  const open = [...questions.filter(({ recorded }) => recorded === null).map(({ id }) => id), ...asks];
  const [only, ...more] = open;
  const question = given.question ?? (more.length === 0 ? only : undefined);
  const look = `See it with run_status, run "${row.name}".`;
  if (only === undefined) throw usageError(`${row.name} has no open question`, look);
  if (question === undefined) {
    throw usageError(
      `${row.name} has ${open.length} open questions, so the answer needs the id of one`,
      `Open: ${open.join(', ')}.`,
    );
  }
  const asking = asks.includes(question) ? ({ asks: 'permission' } as const) : askingOn(board, question);
  if (asking !== undefined && !allowed.has('approve') && needsPerson(asking, given.answer)) {
    const words = [question, given.answer].map((word) => shellWord(plainLine(word, 80))).join(' ');
    throw usageError(
      `this answer to ${plainLine(question, 80)} is a person's decision`,
      `A person gives it: \`squad answer --run ${row.name} ${words}\`. Or they set this server up as \`squad mcp-server --allow approve\`.`,
    );
  }
  return { run: row.id, question };
}
