import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { english } from '../support/english.ts';
import { ALL } from '../support/lane.ts';
import { stateOf } from '../support/state.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import { author, commits, type Entry, type Step } from './run-script.ts';

/** All that agents and the person say is Chinese, so that what is English is squad's own. */
const CRITERION = 'grep -q backoff src/router.txt';
const OBJECTIVE = `# 等待\n\n## Goals\n- docs/design.md 写明等待多久\n\n## Success criteria\n- 它会等待 (run: \`${CRITERION}\`)\n`;

const ISSUE = {
  ...{ doc_path: 'docs/design.md#L1', code_paths: ['src/router.txt#L1'], category: 'func', severity: 'high' },
  ...{ summary: '没有写明等待多久。', suggestion: '写明。' },
};
const NOTHING = { issues: [], summary: '没有问题', questions: [] };
const ASSIGNED = {
  ...{ task_id: 'T-1', to: 'B', task_type: '实现', summary: '让它等待。', files: ['src/router.txt'] },
  ...{ success_criteria: ['会等待'], dependencies: [], deadline_minutes: 60 },
};
const PROMISED = { answer: '500 毫秒', doc_updated: true, doc_path: 'docs/design.md', reason: '' };

function turn(when: string, steps: readonly Step[], structured?: unknown): Entry {
  return { ...author('', [...steps, { answer: '完成' }]), when, ...(structured === undefined ? {} : { structured }) };
}

const mail = (tool: string, given: object): Step => ({ mcp: 'squad', tool, arguments: given });
const write = (path: string, text: string): Step[] => commits({ [path]: text }, '写入').slice(0, -1);

/** Prompts are English. Every occasion of one that a council has: a form refused, evidence missing, a question, an answer that is checked. */
const SCRIPT: readonly Entry[] = [
  turn('# Task review-1:', [mail('report', { issues: [ISSUE], summary: '一处' })], NOTHING),
  turn('# Task review-2:', [], NOTHING),
  turn('# Task improve-1:', [], { changes_summary: '写明了' }),
  turn('said that task improve-1 is done', write('docs/design.md', '等待。\n'), { changes_summary: '写明了' }),
  turn('# Task verify-1-1:', [mail('verified', { has_new_issues: false })], NOTHING),
  turn('# Task verify-1-2:', [], NOTHING),
  turn('# Task assign:', [], { summary: '分配', assignments: [{ ...ASSIGNED, to: 'Z', dependencies: ['T-9'] }] }),
  turn('这些任务分配无法使用', [], { summary: '分配', assignments: [ASSIGNED] }),
  turn('said that task execute-1 is done', write('src/router.txt', 'backoff\n')),
  turn('What you asked about task execute-1 has been answered', []),
  turn('# Task execute-1:', [mail('ask', { to: ['MAIN'], question: '多久？', context: '无', code_path: '-' })]),
  turn('does not understand something', [], PROMISED),
  turn('Complete the documentation before you answer', write('docs/waits.md', '500 ms\n'), {
    ...PROMISED,
    doc_path: 'docs/waits.md',
  }),
  turn('# Task close:', [], { summary: '已实现', open_points: [] }),
];

function openCouncil(): RunBench {
  return openRunBench({
    script: SCRIPT,
    settings: {
      playbook: 'council',
      mail: { locale: 'zh' },
      agents: [
        { name: 'main', role: 'main', runtime: 'scripted' },
        ...['a', 'b'].map((name) => ({ name, role: 'member', runtime: 'scripted' })),
      ],
    },
    objective: OBJECTIVE,
    files: { 'docs/design.md': '# 设计\n', 'src/router.txt': 'now\n' },
  });
}

/** What a person or agent reads, without what is the same in all languages: ids, commands, names and JSON. */
function ownWords(text: string): string {
  return text
    .replaceAll(/^\{".*\}$|^## \w.*$/gm, '')
    .replaceAll(CRITERION, '')
    .replaceAll(/squad mail [^\n]*/g, '')
    .replaceAll(/\((?:main main|member [ab])\)|\[A\] high func|A, high func|\d{4}-\S+Z/g, '');
}

function promptsOf({ repository }: RunBench): [name: string, text: string][] {
  const turns = join(stateOf(repository), 'turns');
  return readdirSync(turns).flatMap((name): [string, string][] => {
    const text = readFileSync(join(turns, name, 'prompt'), 'utf8');
    return text === '' ? [] : [[name.split('.').at(-1) ?? '', text]];
  });
}

it('speaks Chinese on each face that `mail.locale` is about', { ...ALL, timeout: 120_000 }, async (test) => {
  const bench = openCouncil();
  test.onTestFinished(() => bench.end());
  const plain = await bench.run(['run', 'objective.md', '--runtime', 'scripted', '--yes', '--plain']);
  expect(plain.code, plain.stdout + plain.stderr).toBe(0);
  const output = async (...args: string[]): Promise<string> => (await bench.run(args)).stdout;
  const log = await output('log', '--limit', '1000');
  const lines = (text: string): string =>
    text
      .split('\n')
      .flatMap((line) => (/^(?:[\d:]+ {2})?mail {6}/.test(line) ? [line.replace(/^.*?mail {6}/, '')] : []))
      .join('\n');
  const runs = join(stateOf(bench.repository), 'runs');
  const minutes = readFileSync(join(runs, readdirSync(runs)[0] ?? '', 'files', 'council.md'), 'utf8');
  const faces: readonly (readonly [string, string])[] = [
    ['mail in the run', lines(plain.stdout)],
    ['mail in the log', lines(log)],
    ['mail status', await output('mail', 'status')],
    ['mail trace', await output('mail', 'trace')],
    ['mail inbox', await output('mail', 'inbox', '--as', 'A')],
    ['minutes', minutes],
  ];
  expect(promptsOf(bench).map(([name]) => name)).toEqual(
    expect.arrayContaining(['improve-1-2', 'assign-2', 'answer-8-main-2', 'execute-1-3']),
  );
  const left = faces.flatMap(([name, text]) => english(ownWords(text)).map((words) => `${name}: ${words}`));
  expect(left).toEqual([]);
  for (const [name, text] of faces) expect(text, name).toMatch(/[一-鿿]/);
});
