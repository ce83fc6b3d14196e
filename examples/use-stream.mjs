// Shows a run live in a React app, with LangGraph's own hook, starts one and answers its questions. It needs `react` and
// `@langchain/langgraph-sdk`. `squad studio --origin http://localhost:3000` lets your page in.
import { useStream } from '@langchain/langgraph-sdk/react';
import { createElement as h, useState } from 'react';

/** A run of the repository that `squad studio` serves at `apiUrl`, the address that it prints; without `threadId`, a new one for this objective. */
export function RunView({ apiUrl, threadId: given = null, objective, runtime }) {
  const [threadId, onThreadId] = useState(given);
  const run = useStream({ apiUrl, assistantId: 'squad', threadId, onThreadId });
  const { values, interrupt, isLoading, error, submit } = run;
  const { phase = 'new', board = [], result } = values;
  const questions = interrupt?.value?.questions ?? [];
  return h(
    'section',
    null,
    h('h1', null, result?.outcome ?? phase),
    h('ul', null, ...board.map((line) => h('li', { key: line }, line))),
    ...questions.map(({ id, text }) =>
      h('input', {
        ...{ key: id, name: id, placeholder: text },
        onBlur: ({ target }) => submit(undefined, { command: { resume: { [id]: target.value } } }),
      }),
    ),
    error === undefined ? null : h('p', { role: 'alert' }, String(error.message ?? error)),
    h('button', { disabled: isLoading, onClick: () => submit({ objective, runtime }) }, 'Start'),
  );
}
