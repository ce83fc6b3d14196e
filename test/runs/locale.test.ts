import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { english } from '../support/english.ts';
import { ALL } from '../support/lane.ts';
import { stateOf } from '../support/state.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import { author, commits, piece, plan, type Entry, type Step } from './run-script.ts';

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

/** Every occasion of a prompt that a council has: a form refused, evidence missing, a question, an answer that is checked. */
const SCRIPT: readonly Entry[] = [
  turn('任务 review-1：', [mail('report', { issues: [ISSUE], summary: '一处' })], NOTHING),
  turn('任务 review-2：', [], NOTHING),
  turn('任务 improve-1：', [], { changes_summary: '写明了' }),
  turn('任务 improve-1 已完成', write('docs/design.md', '等待。\n'), { changes_summary: '写明了' }),
  turn('任务 verify-1-1：', [mail('done', { has_new_issues: false })], NOTHING),
  turn('任务 verify-1-2：', [], NOTHING),
  turn('任务 assign：', [], { summary: '分配', assignments: [{ ...ASSIGNED, to: 'Z', dependencies: ['T-9'] }] }),
  turn('这些任务分配无法使用', [], { summary: '分配', assignments: [ASSIGNED] }),
  turn('你说任务 execute-1 已完成', write('src/router.txt', 'backoff\n')),
  turn('你就任务 execute-1 提出的问题已有答复', []),
  turn('任务 execute-1：', [
    mail('ask', { action: 'clarify', to: ['MAIN'], question: '多久？', context: '无', code_path: '-' }),
  ]),
  turn('有不明白之处', [], PROMISED),
  turn('回答之前先完善文档', write('docs/waits.md', '500 ms\n'), { ...PROMISED, doc_path: 'docs/waits.md' }),
  turn('任务 close：', [], { summary: '已实现', open_points: [] }),
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
    ...promptsOf(bench),
  ];
  expect(faces.map(([name]) => name)).toEqual(
    expect.arrayContaining(['improve-1-2', 'assign-2', 'answer-8-main-2', 'execute-1-3']),
  );
  const left = faces.flatMap(([name, text]) => english(ownWords(text)).map((words) => `${name}: ${words}`));
  expect(left).toEqual([]);
  for (const [name, text] of faces) expect(text, name).toMatch(/[一-鿿]/);
});

it(
  'says to authors in Chinese what is missing, how a review went and which check failed',
  { ...ALL, timeout: 120_000 },
  async (test) => {
    const rejects = { approved: false, summary: '还不行', findings: [{ text: '不对', criterion: 0, repeated: false }] };
    const bench = openRunBench({
      script: [
        plan([piece('a', { title: '甲', brief: '写 a.txt。', acceptance: ['有 a.txt'] })]),
        { ...turn('# 审查任务 a', [], rejects), turn: 1 },
        turn('# 审查任务 a', [], { approved: true, summary: '好', findings: [] }),
        turn('# 审查', [], { approved: true, summary: '好', findings: [] }),
        turn('引擎检查后发现缺少', write('a.txt', 'a\n')),
        turn('未通过审查', write('a.txt', 'b\n')),
        turn('以下检查失败', write('a.txt', 'c\n')),
        turn('# 任务 a', []),
      ],
      settings: {
        mail: { locale: 'zh' },
        agents: ['planner', 'builder', 'reviewer'].map((role) => ({ name: role, role, runtime: 'scripted' })),
        verify: [{ run: 'if test -e a.txt; then grep -q c a.txt; fi' }],
      },
      objective: OBJECTIVE.replaceAll(CRITERION, 'test -f a.txt'),
    });
    test.onTestFinished(() => bench.end());
    const ended = await bench.runAll();
    expect(ended.code, JSON.stringify(ended.lines.at(-1))).toBe(0);
    const again = promptsOf(bench).filter(([, text]) => text.startsWith('你'));
    const why = again.map(([, text]) => /缺少|未通过审查|检查失败/.exec(text)?.[0]);
    expect(new Set(why)).toEqual(new Set(['检查失败', '缺少', '未通过审查']));
    const own = again.map(([name, text]) => [name, text.replaceAll(/^.*(?:exited with|grep -q).*$/gm, '')] as const);
    expect(own.flatMap(([name, text]) => english(text).map((words) => `${name}: ${words}`))).toEqual([]);
  },
);
