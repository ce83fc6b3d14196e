import { errorText, wrongEnvironment } from '../model/errors.ts';
import { errorCode } from '../model/storage-error.ts';

type Engine = typeof import('../engine/engine.ts');

/** Loads the engine, and LangGraph with it: both only where a run is driven. */
export function loadEngine(): Promise<Engine> {
  const loading = load();
  // A caller that loads it ahead may fail before it waits for this.
  loading.catch(() => undefined);
  return loading;
}

async function load(): Promise<Engine> {
  try {
    return await import('../engine/engine.ts');
  } catch (error) {
    if (errorCode(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw wrongEnvironment(
      `a peer dependency of squad is not installed: ${errorText(error)}`,
      'Install @langchain/core, @langchain/langgraph and @langchain/langgraph-checkpoint.',
    );
  }
}
