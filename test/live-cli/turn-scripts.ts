import {
  calls,
  runs,
  says,
  type FakeRequest as AnthropicRequest,
  type FakeScript as Anthropic,
} from './fake-anthropic.ts';
import type { AuthorReport } from '../../src/model/plan/author-report.ts';
import type { PlannedTask } from '../../src/playbooks/delivery/plan-answer.ts';
import type { AcpLiveAgent } from './acp-agents.ts';
import { shellCall, type FakeRequest as OpenaiRequest, type FakeScript as Openai } from './fake-openai.ts';
import type { Finding } from '../../src/model/plan/review.ts';
import { ALL_FIXED, finding } from '../support/findings.ts';

/** One thing that a model does, in the words of no CLI. */
export type Act =
  | { readonly act: 'write'; readonly path: string; readonly text: string }
  | { readonly act: 'read'; readonly path: string }
  | { readonly act: 'shell'; readonly command: string }
  /** A tool of the squad server, or of another. */
  | {
      readonly act: 'mail';
      readonly tool: string;
      readonly arguments: Record<string, unknown>;
      readonly server?: string;
    }
  /** A tool of the CLI's own. */
  | { readonly act: 'own'; readonly tool: string; readonly arguments: Record<string, unknown> }
  /** The answer in the form that was asked for. */
  | { readonly act: 'answer'; readonly value: Record<string, unknown> }
  /** In an author's report, if one was asked for. */
  | { readonly act: 'say'; readonly text: string };

/** Whether a form, given as JSON, is that of an author's report. */
const isReport = (form: unknown): boolean => JSON.stringify(form ?? null).includes('"notDone"');

const reported = (done: string): AuthorReport => ({ done, checked: [], assumed: [], notDone: [], replies: [] });

/** A planner's answer, whole. */
export function planned(
  summary: string,
  tasks: readonly (Pick<PlannedTask, 'id' | 'title' | 'brief' | 'acceptance'> & Partial<PlannedTask>)[],
  more: Readonly<Record<string, unknown>> = {},
): Act {
  const whole = tasks.map((task) => ({ role: 'builder', needs: [], files: [], ...task }));
  return { act: 'answer', value: { summary, tasks: whole, cannot: null, ...more } };
}

/** A reviewer's answer, whole: some CLIs refuse one without what has a default. No finding: it approves. */
export function reviewed(
  wrong?: string | Finding,
  summary = wrong === undefined ? 'It holds.' : 'It does not hold yet.',
): Act {
  const findings = wrong === undefined ? [] : [typeof wrong === 'string' ? finding(wrong) : wrong];
  const value = { settled: ALL_FIXED, findings, checks: [], approved: wrong === undefined, summary };
  return { act: 'answer', value };
}

export interface Asked {
  readonly prompt: string;
  /** Whom squad's instructions say that it is; empty: nobody of a squad. */
  readonly agent: string;
  /** What the tools of this turn said so far. */
  readonly outputs: readonly string[];
}

/** What the model does in the turns whose prompt fits: one act for each step; `done` after the last. */
export interface ScriptedTurn {
  readonly name: string;
  readonly when: RegExp;
  readonly acts: readonly (Act | ((asked: Asked) => Act | Promise<Act>))[];
}

/** The same model behind any CLI: what it does follows from the prompt alone. */
export interface ScriptedModel {
  readonly anthropic: Anthropic;
  readonly openai: Openai;
  /** Behind an agent whose tools are called in its own way. */
  by(agent: Pick<AcpLiveAgent, 'reply' | 'failures'>): Anthropic;
  /** `<turn> <step>` of every request, in order: a turn that ran twice is in it twice. */
  readonly asked: readonly string[];
  /** Prompts for which there is no turn. */
  readonly strange: readonly string[];
}

export function scriptModel(turns: readonly ScriptedTurn[]): ScriptedModel {
  const asked: string[] = [];
  const strange: string[] = [];
  const next = async (step: number, asking: Omit<Asked, 'agent'>, instructions: string): Promise<Act | undefined> => {
    const { prompt } = asking;
    const turn = turns.find(({ when }) => when.test(prompt));
    if (turn === undefined) {
      strange.push(prompt);
      return undefined;
    }
    asked.push(`${turn.name} ${step}`);
    const act = turn.acts[step] ?? { act: 'say', text: 'done' };
    const agent = /Your name in the squad is ([\w-]+)/.exec(instructions)?.[1] ?? '';
    return typeof act === 'function' ? act({ ...asking, agent }) : act;
  };
  return {
    asked,
    strange,
    anthropic: async (request) => anthropicReply(await next(request.step, asking(request), request.system), request),
    by: (agent) => async (request) => {
      const act = await next(request.step, asking(request), request.system);
      return act === undefined ? agent.failures['bad-request'] : agent.reply(act, request);
    },
    openai: async (request) => {
      const { prompt, toolOutputs: outputs } = request;
      return openaiReply(await next(request.step, { prompt, outputs }, request.said('developer')), request);
    },
  };
}

function asking({ prompt, toolResults }: AnthropicRequest): Omit<Asked, 'agent'> {
  return { prompt, outputs: toolResults };
}

function anthropicReply(act: Act | undefined, { raw, form }: AnthropicRequest) {
  if (act === undefined) {
    const message = 'the script has no turn for this prompt';
    return { type: 'failure', status: 400, error: 'invalid_request_error', message } as const;
  }
  switch (act.act) {
    case 'write': {
      // The tool wants an absolute path; the CLI tells the model where it works, again in a session that goes on elsewhere.
      const [, folder = '/unknown'] = [...raw.matchAll(/Primary working directory: ([^\s"\\]+)/g)].at(-1) ?? [];
      return calls('Write', { file_path: `${folder}/${act.path}`, content: act.text });
    }
    case 'read':
      return runs(`cat '${act.path}'`);
    case 'shell':
      return runs(act.command);
    case 'mail':
      return calls(`mcp__${act.server ?? 'squad'}__${act.tool}`, act.arguments);
    case 'own':
      return calls(act.tool, act.arguments);
    case 'answer':
      return calls('StructuredOutput', act.value);
    case 'say':
      return isReport(form) ? calls('StructuredOutput', reported(act.text)) : says(act.text);
  }
}

function openaiReply(act: Act | undefined, request: OpenaiRequest) {
  if (act === undefined) return { type: 'failure', failure: 'bad-request' } as const;
  const shell = (command: string) => ({ type: 'calls', calls: [shellCall(request, command)] }) as const;
  switch (act.act) {
    case 'write':
      return shell(`mkdir -p "$(dirname '${act.path}')" && cat > '${act.path}' <<'END'\n${act.text}END`);
    case 'read':
      return shell(`cat '${act.path}'`);
    case 'shell':
      return shell(act.command);
    case 'mail':
      return {
        type: 'calls',
        calls: [{ namespace: `mcp__${act.server ?? 'squad'}`, name: act.tool, arguments: act.arguments }],
      } as const;
    case 'own':
      return { type: 'calls', calls: [{ name: act.tool, arguments: act.arguments }] } as const;
    case 'answer':
      return { type: 'text', text: JSON.stringify(act.value) } as const;
    case 'say':
      return {
        type: 'text',
        text: isReport(request.body.text) ? JSON.stringify(reported(act.text)) : act.text,
      } as const;
  }
}

/** Where turns wait for each other, or for the test. */
export interface Gate {
  /** Resolves once the gate is open. */
  pass(): Promise<void>;
  /** Resolves when `count` turns stand before it. */
  readonly reached: Promise<void>;
  open(): void;
}

export function createGate(count: number): Gate {
  const reached = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  let waiting = 0;
  return {
    pass: () => {
      waiting += 1;
      if (waiting === count) reached.resolve();
      return opened.promise;
    },
    reached: reached.promise,
    open: () => opened.resolve(),
  };
}
