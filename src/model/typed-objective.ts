/** In place of a path: the objective of a run that a person or a program gave as a text. */
export const TYPED_OBJECTIVE = 'the objective';
