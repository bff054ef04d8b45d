"""`report.html` as Python, made by jinja2; see `page_templates`."""

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'report.html'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_overview = resolve('overview')
    l_0_version = resolve('version')
    l_0_fingerprint = resolve('fingerprint')
    l_0_m = l_0_title = missing
    pass
    l_0_m = context.vars['m'] = environment.get_template('macros.html', 'report.html')._get_default_module(context)
    context.exported_vars.discard('m')
    l_0_title = environment.getattr((undefined(name='overview') if l_0_overview is missing else l_0_overview), 'headline')
    context.vars['title'] = l_0_title
    context.exported_vars.add('title')
    template = environment.get_template('head.html', 'report.html')
    gen = template.root_render_func(template.new_context(context.get_all(), True, {'m': l_0_m, 'title': l_0_title}))
    try:
        for event in gen:
            yield event
    finally: gen.close()
    yield '<body>\n'
    template = environment.get_template('overview.html', 'report.html')
    gen = template.root_render_func(template.new_context(context.get_all(), True, {'m': l_0_m, 'title': l_0_title}))
    try:
        for event in gen:
            yield event
    finally: gen.close()
    yield '<main>\n'
    template = environment.get_template('found.html', 'report.html')
    gen = template.root_render_func(template.new_context(context.get_all(), True, {'m': l_0_m, 'title': l_0_title}))
    try:
        for event in gen:
            yield event
    finally: gen.close()
    template = environment.get_template('pairs.html', 'report.html')
    gen = template.root_render_func(template.new_context(context.get_all(), True, {'m': l_0_m, 'title': l_0_title}))
    try:
        for event in gen:
            yield event
    finally: gen.close()
    template = environment.get_template('running.html', 'report.html')
    gen = template.root_render_func(template.new_context(context.get_all(), True, {'m': l_0_m, 'title': l_0_title}))
    try:
        for event in gen:
            yield event
    finally: gen.close()
    yield '</main>\n<footer>\n  <p>Written by Roughly'
    if (undefined(name='version') if l_0_version is missing else l_0_version):
        pass
        yield ' <bdi>'
        yield escape((undefined(name='version') if l_0_version is missing else l_0_version))
        yield '</bdi>'
    if (undefined(name='fingerprint') if l_0_fingerprint is missing else l_0_fingerprint):
        pass
        yield '; fingerprint of the settings <bdi><code>'
        yield escape((undefined(name='fingerprint') if l_0_fingerprint is missing else l_0_fingerprint))
        yield '</code></bdi>'
    yield '. The same data for programs is in the JSON file of the same name.</p>\n</footer>\n</body>\n</html>'

blocks = {}
debug_info = '1=15&2=17&3=20&5=27&7=34&8=40&9=46&12=53'
