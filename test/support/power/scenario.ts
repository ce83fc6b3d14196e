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
} from '../scenario-parts.ts';

/** Longer than a message in the ledger: its body is a file. */
const LONG = 'This is under way. '.repeat(400);

/**
 * Two pieces side by side, each reviewed and delivered; both authors write a message with a long body. What an entry answers follows from the prompt alone: a session may be lost with the power.
 */
export const POWER: Scenario = {
  name: 'power',
  objective: objective('Power', 'grep -q left left.txt && grep -q right sub/right.txt'),
  settings: (script, effects) => settings([PLANNER, ...builders(2), REVIEWER], script, effects),
  script: (effects) => {
    const piece = (id: string, path: string, when: string) => ({
      when,
      steps: [
        leave(id, effects),
        { mcp: 'squad', tool: 'send', arguments: { to: ['MAIN'], text: `${id}: ${LONG}` } },
        { write: { path, text: `${id}\n` } },
        ...commit(id),
        { answer: 'done' },
      ],
    });
    const plan = planTurn(
      ['left', 'right'].map((id) => ({ id, needs: [] })),
      effects,
    );
    // Of a turn whose work was lost: its prompt names no task, and the folder does.
    const write =
      'id=$(basename "$PWD"); mkdir -p sub; [ $id = left ] && echo left >left.txt || echo right >sub/right.txt';
    const again = {
      steps: [leave('again', effects), { run: ['/bin/sh', '-c', write] }, ...commit('again'), { answer: 'done' }],
    };
    return {
      turns: [
        plan,
        { ...plan, when: 'task plan was cut short' },
        {
          when: '# Review of task',
          steps: [leave('review', effects), { answer: 'read' }],
          structured: { approved: true, summary: 'good', findings: [] },
        },
        piece('right', 'sub/right.txt', 'task right was cut short'),
        piece('left', 'left.txt', 'task left was cut short'),
        piece('left', 'left.txt', '# Task left:'),
        piece('right', 'sub/right.txt', '# Task right:'),
        again,
      ],
    };
  },
};
