import * as v from 'valibot';

/** To valibot, an array is an object too: `[]` passes for one without members, and any array for a record. */
const OBJECTS = new Set(['object', 'strict_object', 'loose_object', 'object_with_rest', 'record']);

interface Part extends v.GenericSchema {
  /** Of a lazy schema. */
  getter?: (input: unknown) => v.GenericSchema;
}

const seen = new WeakSet<object>();

/** The same schema, where no array passes for an object, at any depth. It is changed in place, the first time. */
export function objectsOnly<S extends v.GenericSchema>(schema: S): S {
  visit(schema);
  return schema;
}

// Whatever valibot calls the places of inner schemas, they are among the properties of the outer one.
function visit(part: unknown): void {
  if (typeof part !== 'object' || part === null || seen.has(part)) return;
  seen.add(part);
  for (const inner of Object.values(part)) visit(inner);
  if (isSchema(part)) correct(part);
}

const isSchema = (part: object): part is Part => 'kind' in part && part.kind === 'schema';

function correct(schema: Part): void {
  const { '~run': run, getter } = schema;
  if (getter) schema.getter = (input) => objectsOnly(getter(input));
  if (!OBJECTS.has(schema.type)) return;
  const runOnObject: Part['~run'] = function (this: Part, dataset, config) {
    if (!Array.isArray(dataset.value)) return run.call(this, dataset, config);
    const failed: unknown = dataset;
    v._addIssue(this, 'type', dataset, config);
    return failed as ReturnType<Part['~run']>;
  };
  // What is made of this schema later, such as a selection of its members, takes it along and calls it as its own.
  Object.assign(schema, { '~run': runOnObject });
}
