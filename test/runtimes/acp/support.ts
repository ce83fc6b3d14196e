import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { TurnReport } from '../../../src/model/turn-event.ts';
import { DEFAULT_TURN_LIMITS, type TurnRequest } from '../../../src/model/turn-request.ts';
import type { AcpFacts } from '../../../src/runtimes/acp/command.ts';
import type { HostPlan } from '../../../src/runtimes/acp/host/plan.ts';
import { profileOf } from '../../../src/runtimes/acp/profiles.ts';
import { begin, conclude, translate } from '../../../src/runtimes/acp/translate.ts';
import type { TurnFacts, Verdict } from '../../../src/runtimes/shared/cli-adapter.ts';

export function requestOf(changes: Partial<TurnRequest> = {}): TurnRequest {
  return {
    turnId: 'turn-1',
    workspace: { path: '/w/tree' },
    prompt: 'do it',
    instructions: 'be good',
    access: { level: 'edit' },
    mcp: [],
    limits: DEFAULT_TURN_LIMITS,
    ...changes,
  };
}

export function factsOf(changes: Partial<AcpFacts> = {}): AcpFacts {
  return {
    name: 'acp/gemini',
    profile: profileOf('gemini'),
    config: {},
    host: ['/opt/node', 'host.mjs'],
    confiner: { kind: 'bubblewrap', bwrap: '/usr/bin/bwrap', env: '/usr/bin/env', namespaces: ['--unshare-ipc'] },
    view: { hidden: [{ path: '/home', isFolder: true }], readable: ['/home/u/.nvm'] },
    masked: [],
    notes: [],
    unpacked: {},
    environment: { PATH: '/bin', GEMINI_API_KEY: 'k' },
    home: '/state/homes/acp/gemini',
    homeIsDefault: false,
    binary: '/opt/gemini',
    directory: '/r/.squad/turns/1',
    credentials: [],
    ...changes,
  };
}

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: Record<string, unknown>;
}

/** What the host prints for a conversation that a plain client recorded. */
export function recorded(name: string): object[] {
  const path = fileURLToPath(new URL(`../../fixtures/captures/acp/${name}.jsonl`, import.meta.url));
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  const asked = new Map<unknown, string>();
  let isPrompted = false;
  let text = '';
  let isToolSince = false;
  return lines.flatMap((line): object[] => {
    const { dir, msg } = JSON.parse(line) as { dir: string; msg: Message };
    const { id, method = '', params = {}, result, error } = msg;
    const update = (params['update'] ?? {}) as { sessionUpdate?: string; content?: { text?: string } };
    if (dir === '>' && method !== '') {
      asked.set(id, method);
      isPrompted ||= method === 'session/prompt';
      return method === 'session/prompt' ? [{ type: 'prompted' }] : [];
    }
    if (method === 'session/update') {
      isToolSince ||= update.sessionUpdate === 'tool_call';
      if (update.sessionUpdate === 'agent_message_chunk') {
        text = (isToolSince ? '' : text) + (update.content?.text ?? '');
        isToolSince = false;
      }
      return [{ type: 'update', ...(isPrompted ? {} : { replayed: true }), update }];
    }
    if (method === 'session/request_permission') {
      const { toolCallId, title, kind, name: tool = title } = params['toolCall'] as Record<string, unknown>;
      return [{ type: 'permission', id: toolCallId, tool, kind, title, answer: 'allowed', by: 'policy', reason: '' }];
    }
    const to = dir === '<' ? asked.get(id) : undefined;
    if (error !== undefined) return [{ type: 'error', at: 'prompt', ...error }];
    if (to === 'session/new') return [{ type: 'session', id: result?.['sessionId'], resumed: false, mcp: [] }];
    if (to !== 'session/prompt') return [];
    const { stopReason, usage, _meta: meta } = result ?? {};
    return [{ type: 'result', stopReason, text, usage, meta }];
  });
}

interface Playing {
  readonly request?: Partial<TurnRequest>;
  readonly facts?: Partial<TurnFacts>;
  readonly quirks?: HostPlan['quirks'];
}

/** Plays lines of the host and ends the turn. */
export function play(lines: readonly object[], { request, facts, quirks = {} }: Playing = {}) {
  let state = begin('acp/fake', quirks, requestOf(request));
  const reports: TurnReport[] = [];
  for (const value of lines) {
    const step = translate(state, { type: 'json', value: JSON.parse(JSON.stringify(value)) });
    state = step.state;
    reports.push(...step.reports);
  }
  const verdict: Verdict = conclude(state, {
    ending: { type: 'exited', code: state.end?.type === 'result' ? 0 : 1, signal: null },
    stderr: '',
    endedByHost: false,
    now: Date.parse('2026-11-20T10:00:00Z'),
    ...facts,
  });
  return { state, reports, verdict };
}
