import { stringify } from 'yaml';

/** A whole run with a scripted team, small enough to be killed a hundred times. */
export interface Scenario {
  readonly name: string;
  readonly objective: string;
  /** squad.yaml; every command and every turn leaves one line in `effects`, outside the repository. */
  settings(script: string, effects: string): string;
  script(effects: string): { turns: readonly object[] };
}

/** Its own line for each time it is really done, with the attempt that did it. */
function leave(label: string, effects: string): { run: string[] } {
  return { run: ['/bin/sh', '-c', 'echo "$1 $SQUAD_TURN_ID" >> "$0"', effects, label] };
}

function commit(message: string): { run: string[] }[] {
  return [{ run: ['git', 'add', '--all'] }, { run: ['git', 'commit', '--quiet', '--message', message] }];
}

function planTurn(tasks: readonly { id: string; needs: string[] }[], effects: string): object {
  const pieces = tasks.map(({ id, needs }) => ({
    id,
    title: `Make ${id}`,
    role: 'builder',
    needs,
    brief: `Write ${id}.txt.`,
    acceptance: [`${id}.txt exists`],
  }));
  return {
    when: 'Split this objective',
    steps: [leave('plan', effects), { answer: 'planned' }],
    structured: { summary: 'one piece after the other', tasks: pieces },
  };
}

function settings(agents: readonly object[], script: string, effects: string): string {
  return stringify({
    version: 1,
    agents: agents.map((agent) => ({ runtime: 'scripted', ...agent })),
    runtimes: { scripted: { config: { script } } },
    limits: { parallel: 3 },
    setup: [{ run: `echo "setup $SQUAD_TURN_ID" >> '${effects}'` }],
    verify: [{ run: `test -f readme.md && echo "verify $SQUAD_TURN_ID" >> '${effects}'` }],
  });
}

function objective(title: string, criterion: string): string {
  return `# ${title}\n\n## Goals\n- The files are there\n\n## Success criteria\n- They hold together (run: \`${criterion}\`)\n`;
}

/** Plan → two pieces side by side, each of which takes its time → one that is made of both. */
export function fanOut(sleepMs: number): Scenario {
  return {
    name: 'fan-out',
    objective: objective('Fan out', 'test "$(cat both.txt)" = "$(cat left.txt right.txt)"'),
    settings: (script, effects) =>
      settings(
        [
          { name: 'planner', role: 'planner', access: 'read-only' },
          { name: 'builder-1', role: 'builder' },
          { name: 'builder-2', role: 'builder' },
        ],
        script,
        effects,
      ),
    script: (effects) => {
      const piece = (id: string) => ({
        when: `# Task ${id}:`,
        steps: [
          leave(id, effects),
          ...(sleepMs === 0 ? [] : [{ sleep: sleepMs }]),
          { write: { path: `${id}.txt`, text: `${id}\n` } },
          ...commit(`Make ${id}`),
          { answer: 'done' },
        ],
      });
      const both = { run: ['/bin/sh', '-c', 'cat left.txt right.txt > both.txt'] };
      return {
        turns: [
          planTurn(
            [
              { id: 'left', needs: [] },
              { id: 'right', needs: [] },
              { id: 'both', needs: ['left', 'right'] },
            ],
            effects,
          ),
          { when: '# Task both:', steps: [leave('both', effects), both, ...commit('Make both'), { answer: 'done' }] },
          piece('left'),
          piece('right'),
        ],
      };
    },
  };
}

export const FAN_OUT = fanOut(0);

/** One piece that its reviewer sends back once, and approves in the same session. */
export const REVIEW: Scenario = {
  name: 'review',
  objective: objective('Review', 'grep -q better page.txt'),
  settings: (script, effects) =>
    settings(
      [
        { name: 'planner', role: 'planner', access: 'read-only' },
        { name: 'builder-1', role: 'builder' },
        { name: 'reviewer-1', role: 'reviewer', access: 'read-only' },
      ],
      script,
      effects,
    ),
  script: (effects) => {
    const finding = { text: 'page.txt is too plain', criterion: 0, repeated: false };
    const write = (text: string) => ({ write: { path: 'page.txt', text } });
    return {
      turns: [
        planTurn([{ id: 'page', needs: [] }], effects),
        {
          when: 'was rejected in review',
          turn: 2,
          steps: [leave('mend', effects), write('better\n'), ...commit('Mend the page'), { answer: 'mended' }],
        },
        {
          when: '# Review of task page',
          turn: 1,
          steps: [leave('reject', effects), { answer: 'no' }],
          structured: { approved: false, summary: 'not yet', findings: [finding] },
        },
        {
          when: '# Review of task page',
          turn: 2,
          steps: [leave('approve', effects), { answer: 'yes' }],
          structured: { approved: true, summary: 'good', findings: [] },
        },
        {
          when: '# Task page:',
          turn: 1,
          steps: [leave('page', effects), write('plain\n'), ...commit('Make the page'), { answer: 'done' }],
        },
      ],
    };
  },
};
