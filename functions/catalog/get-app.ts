import { query } from '../platform/http/endpoint.ts';
import { AppParams, AppView, isPublisher, viewApp } from './app.ts';
import { findAppFor } from './find-version.ts';
import { refuse } from './problems.ts';

export const getApp = query(
  { summary: 'Get an app of the catalogue', params: AppParams, reply: AppView, refusals: ['app.unknown'] },
  async (ctx, { params }) => {
    const { app, grants } = await findAppFor(ctx, params.app_slug);
    const view = app && viewApp(app, isPublisher(grants, app));
    if (!view) throw refuse('app.unknown');
    return view;
  },
);
