import { describe, expect, it } from 'vitest';
import { acpAgentIn, ACP_AGENTS, acpRuntime, isRegistered, isRuntimeName } from '../../src/model/runtime-name.ts';

describe('the name of a runtime', () => {
  it.each([
    ['claude', true, undefined],
    ['acp/gemini', true, 'gemini'],
    ['acp/my-agent-2', true, 'my-agent-2'],
    ['acp', true, undefined],
    ['acp/', false, undefined],
    ['acp/Gemini', false, undefined],
    ['acp/../gemini', false, undefined],
    ['acp/gemini/fast', false, undefined],
    ['other/gemini', false, undefined],
    ['/gemini', false, undefined],
    ['acp/gemini\n', false, undefined],
    [`acp/${'a'.repeat(33)}`, false, undefined],
  ])('%j', (name, expected, agent) => {
    expect([isRuntimeName(name), acpAgentIn(name)]).toEqual([expected, agent]);
  });

  it('is that of its agent', () => {
    expect(ACP_AGENTS.map((agent) => acpAgentIn(acpRuntime(agent)))).toEqual(ACP_AGENTS);
  });

  it('stands for a runtime that can be made if it is registered or an agent’s', () => {
    const names = ['mine', 'acp/mine', 'other', 'acp', 'toString'];
    expect(names.filter((name) => isRegistered({ mine: 1 }, name))).toEqual(['mine', 'acp/mine']);
  });
});
