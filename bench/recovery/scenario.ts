import {
  builders,
  commit,
  leave,
  objective,
  PLANNER,
  planTurn,
  REVIEWER,
  settings,
  type Scenario,
} from '../../test/support/scenario-parts.ts';
import { ALL_FIXED, finding } from '../../test/support/findings.ts';

/** An agent's own work; long enough to be met in the middle of it. */
export const WORK_MS = 300;

/** After its mail, so that it is met with the mail sent and the turn not at its end. */
const REST_MS = 100;

/** Turns that write to MAIN in the middle of their work. */
export const WRITERS = ['left', 'right', 'mend'] as const;

/** Each turn's label, in the order in which a run that nobody disturbs begins them; `left` and `right` side by side. */
export const LABELS = ['plan', 'left', 'right', 'review-left', 'review-right', 'mend', 'again-right'] as const;

/**
 * Plan → two pieces side by side, each reviewed; one is rejected once, mended and approved → both merged, verified one by
 * one and together. Every turn leaves a line outside the repository when it begins, and each author writes a message.
 */
export const RECOVERY: Scenario = {
  name: 'recovery',
  objective: objective('Recovery', 'grep -q left left.txt && grep -q better right.txt'),
  settings: (script, effects) => settings([PLANNER, ...builders(2), REVIEWER], script, effects),
  script: (effects) => {
    const work = { sleep: WORK_MS };
    const piece = (id: string, label: string, when: string, text: string) => ({
      when,
      steps: [
        leave(label, effects),
        work,
        { mcp: 'squad', tool: 'send', arguments: { to: ['MAIN'], text: `${label} is under way` } },
        { sleep: REST_MS },
        write(`${id}.txt`, text),
        ...commit(label),
        { answer: 'done' },
      ],
    });
    const review = (id: string, turn: number, label: string, approved: boolean) => ({
      when: `# Review of task ${id}`,
      turn,
      steps: [leave(label, effects), work, { answer: 'read' }],
      structured: {
        approved,
        summary: approved ? 'good' : 'not yet',
        findings: approved ? [] : [finding('right.txt is too plain')],
        settled: ALL_FIXED,
      },
    });
    const plan = {
      ...planTurn(bothPieces(), effects),
      steps: [leave('plan', effects), work, { answer: 'planned' }],
    };
    return {
      turns: [
        plan,
        { ...plan, when: 'task plan was cut short' },
        review('left', 1, 'review-left', true),
        review('right', 1, 'review-right', false),
        review('right', 2, 'again-right', true),
        piece('right', 'mend', 'was rejected in review', 'better\n'),
        // Whose turn was killed in the middle is told so, and does the same again.
        { ...piece('right', 'mend', 'task right was cut short', 'better\n'), turn: 2 },
        piece('right', 'right', 'task right was cut short', 'right\n'),
        piece('left', 'left', 'task left was cut short', 'left\n'),
        piece('left', 'left', '# Task left:', 'left\n'),
        piece('right', 'right', '# Task right:', 'right\n'),
      ],
    };
  },
};

function bothPieces(): { id: string; needs: string[] }[] {
  return ['left', 'right'].map((id) => ({ id, needs: [] }));
}

function write(path: string, text: string): object {
  return { write: { path, text } };
}
