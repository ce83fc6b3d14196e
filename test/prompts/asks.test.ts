import { describe, expect, it } from 'vitest';
import { RUNS } from './played.ts';
import { authorPrompts, type Shown } from './shown.ts';

/** Words of a prompt, and whether they are right for the task. */
interface Ask {
  readonly words: RegExp;
  readonly fits: (shown: Shown) => boolean;
}

const isOwn = ({ task }: Shown): boolean => task.workspace === 'own';
const commitsOwn = (shown: Shown): boolean => isOwn(shown) && shown.commits;
const builds = ({ task }: Shown): boolean => task.builds === true;

const ASKS: readonly Ask[] = [
  {
    words: /make a new commit|, and commit\b|\bCommit (?:your|the|every|all)\b|^Commit\.|\. Commit\.|`git merge`/m,
    fits: commitsOwn,
  },
  { words: /your work is committed with git/, fits: commitsOwn },
  { words: /Do not commit|Make no commit/, fits: (shown) => !commitsOwn(shown) },
  { words: /another agent commits/i, fits: (shown) => shown.committed && !commitsOwn(shown) },
  { words: /in the same folder/, fits: isOwn },
  {
    words: /short report that is asked for|and reply why/,
    fits: (shown) => isOwn(shown) && shown.task.output === undefined,
  },
  { words: /say why in the work itself/, fits: (shown) => isOwn(shown) && shown.task.output !== undefined },
  { words: /in the form asked for/, fits: ({ task }) => task.output !== undefined },
  { words: /You may build, run and write/, fits: builds },
  { words: /build and run what you need|Build it and run/, fits: (shown) => builds(shown) || isOwn(shown) },
  { words: /Change no file/, fits: (shown) => !isOwn(shown) },
];

describe.each(RUNS)('the prompts of %s', (_, open, least) => {
  const run = open();
  const { board } = run;
  const prompts = authorPrompts(run);

  it('are those of a run that came to its end', () => {
    expect(board.tasks.size).toBeGreaterThanOrEqual(least);
    expect([...board.tasks.values()].filter(({ work: { phase } }) => phase.at !== 'ended')).toEqual([]);
  });

  it('ask only for what the task may do', () => {
    const wrong = prompts.flatMap((shown) => {
      const { task, why, text, instructions } = shown;
      return ASKS.filter(({ words, fits }) => words.test(`${instructions}\n\n${text}`) && !fits(shown)).map(
        ({ words }) => `${task.id} (${task.role}), ${why}: ${words.source}\n${text}`,
      );
    });
    expect(wrong).toEqual([]);
  });

  it('order a commit wherever the task has to make one', () => {
    const starts = prompts.filter((shown) => shown.why === 'start' && commitsOwn(shown));
    const without = starts.filter(({ text, task }) => task.brief.verbatim !== true && !/Commit your work/.test(text));
    expect(without.map(({ task }) => task.id)).toEqual([]);
  });
});
