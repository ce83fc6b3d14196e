import { join } from 'node:path';
import { AIMessage, HumanMessage, type ToolMessage } from '@langchain/core/messages';
import { Command, END, isInterrupted, MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { describe, expect, it, onTestFinished } from 'vitest';
import { squadTool } from '../../src/exports/langgraph.ts';
import { createSquad, type Squad } from '../../src/squad/squad.ts';
import { openRunBench, type RunBench } from '../runs/run-bench.ts';
import { APPROVE_ALL, author, commits, objective, piece, plan, type Entry } from '../runs/run-script.ts';
import { ALL } from '../support/lane.ts';

const SCRIPT: Entry[] = [plan([piece('a')]), author('a', commits({ 'a.txt': 'a\n' })), APPROVE_ALL];

function squadFor(): { bench: RunBench; squad: Squad } {
  const bench = openRunBench({ script: SCRIPT });
  onTestFinished(() => bench.end());
  const { root, repository: cwd } = bench;
  const environment = { PATH: process.env['PATH'], HOME: root, XDG_STATE_HOME: join(root, 'state') };
  return { bench, squad: createSquad({ cwd, environment }) };
}

const call = (text = objective()) => ({
  type: 'tool_call' as const,
  id: 'call-1',
  name: 'squad',
  args: { objective: text },
});

async function reportIn(tool: ReturnType<typeof squadTool>): Promise<ToolMessage> {
  return tool.invoke(call());
}

describe('a tool that is a run', { timeout: 120_000 }, () => {
  it('answers with the facts, and the same call again with the same run', ALL, async () => {
    const { bench, squad } = squadFor();
    const tool = squadTool(squad, { runtime: 'scripted', trust: 'yes' });
    const first = await reportIn(tool);
    expect(first.content).toMatch(
      /^DONE, [^]*\nBranch: squad\/make-things at [0-9a-f]{40}\nNext: squad diff make-things\nNext: squad merge make-things\nReport: /,
    );
    expect(first.artifact).toMatchObject({ outcome: 'done' });
    expect(bench.fileOnBranch('a.txt')).toBe('a');
    const again = await reportIn(tool);
    expect(again.content).toBe(first.content);
    expect(await squad.runs()).toHaveLength(1);
    expect(await tool.invoke({ objective: objective() })).toContain('DONE');
    expect(await squad.runs()).toHaveLength(2);
  });

  it('says what a run waits for where nobody can be asked, and interrupts a graph that can', ALL, async () => {
    const { squad } = squadFor();
    const tool = squadTool(squad, { runtime: 'scripted', trust: 'yes', plan: 'ask' });
    const waiting = await reportIn(tool);
    expect(waiting.content).toMatch(/^WAITING, [^]*\nQuestion plan-1: [^]*\nNext: squad answer plan-1 approve/);
    const agent = new StateGraph(MessagesAnnotation)
      .addNode('tools', new ToolNode([tool]))
      .addEdge(START, 'tools')
      .addEdge('tools', END)
      .compile({ checkpointer: new MemorySaver() });
    const thread = { configurable: { thread_id: 'theirs' } };
    const messages = [new HumanMessage('go'), new AIMessage({ content: '', tool_calls: [call()] })];
    const asked = await agent.invoke({ messages }, thread);
    expect(isInterrupted(asked)).toBe(true);
    const done = await agent.invoke(new Command({ resume: 'approve' }), thread);
    expect(done.messages.at(-1)).toMatchObject({ tool_call_id: 'call-1', content: expect.stringMatching(/^DONE, /) });
    expect(await squad.runs()).toHaveLength(2);
  });

  it('does not let a model’s objective run commands that nobody agreed to', async () => {
    const { squad } = squadFor();
    const tool = squadTool(squad, { runtime: 'scripted' });
    await expect(tool.invoke(call(`${objective()}\n- [ ] it is (run: \`touch /tmp/x\`)\n`))).rejects.toMatchObject({
      code: 'not-trusted',
    });
    expect(await squad.runs()).toEqual([]);
  });
});
