// What names a thing, by the kind of thing: a project's id is never taken for an organisation's.

import { v7 } from 'uuid';
import * as v from 'valibot';

declare const kind: unique symbol;

/**
 * Text that names one kind of thing: the id of another kind is refused by the compiler, and at run time it is text like
 * any other. The mark is optional, so that plain text passes for an id where it becomes one: in keys read back, in what
 * AWS tells us, in tests. Were it required, dozens of casts here and hundreds in tests would hide the few that matter.
 */
export type Branded<K extends string> = string & { readonly [kind]?: K };

export type OrgId = Branded<'OrgId'>;
export type ProjectId = Branded<'ProjectId'>;
export type UserId = Branded<'UserId'>;
export type ServiceAccountId = Branded<'ServiceAccountId'>;
/** One of the keys of a service account. */
export type AccountKeyId = Branded<'AccountKeyId'>;
export type InvitationId = Branded<'InvitationId'>;
export type SubmissionId = Branded<'SubmissionId'>;
export type IntentId = Branded<'IntentId'>;
export type ArtifactId = Branded<'ArtifactId'>;
export type AppInstanceId = Branded<'AppInstanceId'>;
export type OperationId = Branded<'OperationId'>;
export type SelftestId = Branded<'SelftestId'>;
/** A GPU host. */
export type NodeId = Branded<'NodeId'>;
/** Something a host was asked to do. */
export type TaskId = Branded<'TaskId'>;
/** What runs together on one host: the containers of an instance, or of one member of it. */
export type WorkloadId = Branded<'WorkloadId'>;
export type AllocationId = Branded<'AllocationId'>;
export type VolumeId = Branded<'VolumeId'>;
export type EventId = Branded<'EventId'>;
export type AuditId = Branded<'AuditId'>;
/** The gateway's, of one WebSocket. */
export type ConnectionId = Branded<'ConnectionId'>;
/** Under it everything a request led to is found; callers may choose it. */
export type CorrelationId = Branded<'CorrelationId'>;

/** Whose audit log and event feed it is: a project's, an organisation's, or the platform's. */
export type PlaceId = ProjectId | OrgId | 'platform';

/** Says which kind of thing a text names. It stays the same schema, with the same JSON Schema. */
export const branded = <T extends string>(schema: v.GenericSchema<string>) => schema as v.GenericSchema<T>;

/** For what we have written ourselves, or only show. */
export const textOf = <T extends string>() => branded<T>(v.string());

/** One id, however a caller spells it. */
export const lowerCased = <T extends string>(id: T): T => id.toLowerCase() as T;

const Id = v.pipe(v.string(), v.uuid());

// As callers send them.
export const OrgId = branded<OrgId>(Id);
export const ProjectId = branded<ProjectId>(Id);
export const UserId = branded<UserId>(Id);
export const ServiceAccountId = branded<ServiceAccountId>(Id);
export const AccountKeyId = branded<AccountKeyId>(Id);
export const InvitationId = branded<InvitationId>(Id);
export const SubmissionId = branded<SubmissionId>(Id);
export const IntentId = branded<IntentId>(Id);
export const ArtifactId = branded<ArtifactId>(Id);
export const SelftestId = branded<SelftestId>(Id);
export const NodeId = branded<NodeId>(Id);
export const TaskId = branded<TaskId>(Id);
export const WorkloadId = branded<WorkloadId>(Id);
export const AllocationId = branded<AllocationId>(Id);
export const VolumeId = branded<VolumeId>(Id);
export const EventId = branded<EventId>(Id);
export const AuditId = branded<AuditId>(Id);

/** Ids sort by the time they were made, so a list by id is a list by age. */
export type NewId = <T extends string = string>() => T;

export const newId: NewId = <T extends string>() => v7() as T;
