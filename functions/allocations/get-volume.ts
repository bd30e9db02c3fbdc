import { projectOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { VolumeParams, Volume } from './volume.ts';
import { findVolume } from './volume-store.ts';

export const getVolume = query(
  {
    summary: 'Get a volume',
    params: VolumeParams,
    reply: Volume,
    refusals: ['volume.unknown'],
  },
  (ctx, { params }) => findVolume(projectOf(ctx).id, params.volume_id),
);
