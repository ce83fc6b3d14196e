import { afterEach, describe, expect, it } from 'vitest';
import { createCheckAdapter } from '../../src/engine/checks/command-adapter.ts';
import { frontMatterSchema, settingsSchema } from '../../src/model/settings.ts';
import { DEFAULT_TURN_LIMITS } from '../../src/model/turn-request.ts';
import { command as claudeCommand } from '../../src/runtimes/claude/command.ts';
import { codexCommand } from '../../src/runtimes/codex/command.ts';
import { removeFolders, openBench } from '../substrate/git/bench.ts';
import { makeFacts, makeRequest } from '../runtimes/claude/support.ts';
import { factsOf, requestOf } from '../runtimes/codex/support.ts';
import { openForgeBench } from '../substrate/git/forge/forge-bench.ts';
import { ALL } from '../support/lane.ts';

const VALUES = ['-', '--', '-x', '--x=y', '--output=/tmp/x', '@file', 'a\n--x', '\n', '-c', '--upload-pack=touch'];

afterEach(removeFolders);

async function refusalOf(call: () => Promise<unknown>): Promise<unknown> {
  try {
    return await call();
  } catch (error) {
    return error;
  }
}

describe('S5: a value is never an option', () => {
  it.each(VALUES)('S5: claude: %j', (value) => {
    const made = claudeCommand(
      makeRequest({
        ...{ model: value, instructions: value, prompt: value, outputSchema: { title: value } },
        ...{ toolRules: { allow: [value], deny: [value] }, access: { level: 'edit', writable: [`/${value}`] } },
      }),
      makeFacts(),
    );
    if (made.type !== 'command') throw new Error('refused');
    const alone = made.args.filter(
      (arg) => arg === value || (arg.startsWith('-') && !/^-p$|^--[a-z-]+(?:=|$)/i.test(arg)),
    );
    expect(alone).toEqual([]);
    const known =
      /^--(?:output-format|verbose|include-partial-messages|setting-sources|strict-mcp-config|disable-slash-commands|permission-prompts|settings|session-id|append-system-prompt-file|model|permission-mode|tools|allowedTools|disallowedTools|add-dir|json-schema)(?:=|$)|^-p$/;
    expect(made.args.filter((arg) => !known.test(arg))).toEqual([]);
    expect(made.stdin).toBe(value);
  });

  it.each(VALUES)('S5: codex: %j', (value) => {
    const made = codexCommand(
      requestOf({ model: value, instructions: value, prompt: value, outputSchema: { title: value } }),
      factsOf(),
    );
    if (made.type !== 'command') throw new Error('refused');
    expect(made.stdin).toBe(value);
    // Whatever is not an option of ours stands behind one that takes a value, as `-c key=value`.
    const own = ['-C', '--sandbox', '-c', '--output-schema', 'resume'];
    for (const [index, arg] of made.args.entries()) {
      if (arg === value && value !== '-') expect(own, arg).toContain(arg);
      if (arg.includes(value) && value.length > 2) expect(made.args[index - 1]).toBe('-c');
    }
    expect(made.args.at(-1)).toBe('-');
    expect(made.args.filter((arg) => arg === '-')).toHaveLength(1);
  });

  it.each(VALUES)('S5: a check: %j', (value) => {
    const adapter = createCheckAdapter({});
    const made = adapter.command({ ...makeRequest({ prompt: value }), limits: DEFAULT_TURN_LIMITS }, undefined);
    if (made.type !== 'command') throw new Error('refused');
    expect(made.args).toEqual(['-c', 'exec /bin/sh -c -- "$1" >&2', 'sh', value]);
  });

  it('S5: git: no value names a run, task, attempt, commit, branch or remote', ALL, async () => {
    const { workspaces, report } = await openBench();
    const { head } = report;
    const refused = expect.objectContaining({ code: 'bad-input' }) as Error;
    const folder = await workspaces.addFolder({ run: 'r', task: 't', commit: head });
    for (const value of VALUES) {
      for (const call of [
        async () => workspaces.addFolder({ run: value, task: 't', commit: head }),
        async () => workspaces.addFolder({ run: 'r', task: value, commit: head }),
        async () => workspaces.addFolder({ run: 'r', task: 'u', commit: value }),
        async () => workspaces.moveFolder(folder, value, 't-1'),
        async () => workspaces.createRunBranch(value, head),
        async () => workspaces.createRunBranch('r', value),
        async () => workspaces.advance('r', value, head),
        async () => workspaces.keepAttempt('r', value, head),
        async () => workspaces.commitsBetween(value, head),
        async () => workspaces.changedFiles(head, value),
        async () => workspaces.diffStat(head, value),
        async () => workspaces.isFileAt(value, 'readme.md'),
        async () => workspaces.readFileAt(value, 'readme.md', 100),
        async () => workspaces.mergeBase(value, head),
      ]) {
        await expect(refusalOf(call), value).resolves.toEqual(refused);
      }
      expect(await workspaces.isFileAt(head, value)).toBe(false);
      expect(await workspaces.readFileAt(head, value, 100)).toBe('absent');
      for (const publish of [{ remote: value }, { base: value }]) {
        expect(settingsSchema.safeParse({ publish }).success).toBe(false);
      }
    }
    await workspaces.close();
  });

  it.each(VALUES)('S5: settings: %j', (value) => {
    const agent = { name: 'a', role: 'builder', runtime: 'claude' };
    const model = settingsSchema.safeParse({ agents: [{ ...agent, model: value }] }).success;
    expect(model).toBe(false);
    expect(frontMatterSchema.safeParse({ name: value }).success).toBe(false);
    expect(settingsSchema.safeParse({ runtimes: { claude: { env: [value] } } }).success).toBe(false);
  });

  it('S5: gh: titles and texts that look like options stay what they are', ALL, async () => {
    const bench = openForgeBench();
    try {
      bench.github({});
      for (const [index, value] of VALUES.entries()) {
        const branch = `squad/fix-${index}`;
        await bench.forge.push({ remote: 'origin', branch, commit: bench.commit(bench.base, `f${index}`) });
        const title = value.trim() === '' ? 'x' : value;
        const opened = await bench.forge.openPullRequest({
          remote: 'origin',
          branch,
          base: 'main',
          title,
          body: value,
        });
        expect(opened.type).toBe('found');
        const { args = [] } = bench.calls().findLast((call) => call.args[1] === 'create') ?? {};
        const options = args.slice(2).filter((arg) => !/^--(?:repo|head|base|title|body|draft)=/.test(arg));
        expect(options).toEqual([]);
      }
    } finally {
      bench.close();
    }
  });
});
