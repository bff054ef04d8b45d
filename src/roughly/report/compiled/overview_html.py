"""`overview.html` as Python, made by jinja2; see `page_templates`."""

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'overview.html'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_overview = resolve('overview')
    l_0_rejected = resolve('rejected')
    l_0_curve = resolve('curve')
    l_0_recall = resolve('recall')
    l_0_dates = resolve('dates')
    l_0_guesses = resolve('guesses')
    l_0_contents = resolve('contents')
    try:
        t_1 = environment.filters['format']
    except KeyError:
        @internalcode
        def t_1(*unused):
            raise TemplateRuntimeError("No filter named 'format' found.")
    try:
        t_2 = environment.filters['join']
    except KeyError:
        @internalcode
        def t_2(*unused):
            raise TemplateRuntimeError("No filter named 'join' found.")
    try:
        t_3 = environment.filters['length']
    except KeyError:
        @internalcode
        def t_3(*unused):
            raise TemplateRuntimeError("No filter named 'length' found.")
    try:
        t_4 = environment.tests['none']
    except KeyError:
        @internalcode
        def t_4(*unused):
            raise TemplateRuntimeError("No test named 'none' found.")
    pass
    yield '<header class="top">\n  <p class="brand">Roughly <span>report of a run</span></p>\n  <h1>'
    yield escape(environment.getattr((undefined(name='overview') if l_0_overview is missing else l_0_overview), 'headline'))
    yield '</h1>\n'
    if (not t_4(environment.getattr((undefined(name='overview') if l_0_overview is missing else l_0_overview), 'kept_share'))):
        pass
        yield '  <div class="split">\n    <svg viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-labelledby="split-title">\n      <title id="split-title">'
        yield escape(t_1('%.1f', (100 * environment.getattr((undefined(name='overview') if l_0_overview is missing else l_0_overview), 'kept_share'))))
        yield ' % of the documents are kept</title>\n      <rect class="kept" width="'
        yield escape(t_1('%.1f', (1000 * environment.getattr((undefined(name='overview') if l_0_overview is missing else l_0_overview), 'kept_share'))))
        yield '" height="10"/>\n      <rect class="removed" x="'
        yield escape(t_1('%.1f', (1000 * environment.getattr((undefined(name='overview') if l_0_overview is missing else l_0_overview), 'kept_share'))))
        yield '" width="'
        yield escape(t_1('%.1f', (1000 - (1000 * environment.getattr((undefined(name='overview') if l_0_overview is missing else l_0_overview), 'kept_share')))))
        yield '" height="10"/>\n    </svg>\n  </div>\n'
    if environment.getattr((undefined(name='overview') if l_0_overview is missing else l_0_overview), 'figures'):
        pass
        yield '  <dl class="figures">\n'
        for l_1_figure in environment.getattr((undefined(name='overview') if l_0_overview is missing else l_0_overview), 'figures'):
            _loop_vars = {}
            pass
            yield '    <div class="'
            yield escape(environment.getattr(l_1_figure, 'tone'))
            yield '"><dt>'
            yield escape(environment.getattr(l_1_figure, 'word'))
            yield '</dt><dd><strong>'
            yield escape(environment.getattr(l_1_figure, 'value'))
            yield '</strong>'
            if environment.getattr(l_1_figure, 'remark'):
                pass
                yield ' <span>'
                yield escape(environment.getattr(l_1_figure, 'remark'))
                yield '</span>'
            yield '</dd></div>\n'
        l_1_figure = missing
        yield '  </dl>\n'
    if (undefined(name='rejected') if l_0_rejected is missing else l_0_rejected):
        pass
        yield '  <p class="notice" id="rejected"><strong>'
        yield escape((undefined(name='rejected') if l_0_rejected is missing else l_0_rejected))
        yield '</strong> Each is listed with its file, its position and the reason in <code>quarantine.jsonl</code> beside this page; nothing was dropped silently.</p>\n'
    if ((undefined(name='curve') if l_0_curve is missing else l_0_curve) and environment.getattr((undefined(name='curve') if l_0_curve is missing else l_0_curve), 'falls_short')):
        pass
        yield '  <p class="notice"><strong>The requested recall is not met:</strong> a pair at the threshold becomes a candidate with probability '
        yield escape(environment.getattr((undefined(name='curve') if l_0_curve is missing else l_0_curve), 'met'))
        yield ', and '
        yield escape((undefined(name='recall') if l_0_recall is missing else l_0_recall))
        yield ' was requested.</p>\n'
    for (l_1_said, l_1_examples) in (undefined(name='dates') if l_0_dates is missing else l_0_dates):
        _loop_vars = {}
        pass
        yield '  <p class="notice" dir="auto"><strong>'
        yield escape(l_1_said)
        yield '.</strong>'
        if l_1_examples:
            pass
            yield ' For instance '
            yield escape(t_2(context.eval_ctx, l_1_examples, ', '))
            yield '.'
        yield '</p>\n'
    l_1_said = l_1_examples = missing
    if (undefined(name='guesses') if l_0_guesses is missing else l_0_guesses):
        pass
        yield '  <p class="notice mild">'
        yield escape(('One thing was' if (t_3((undefined(name='guesses') if l_0_guesses is missing else l_0_guesses)) == 1) else markup_join((t_3((undefined(name='guesses') if l_0_guesses is missing else l_0_guesses)), ' things were', ))))
        yield ' guessed: <a href="#guesses">see below</a>.</p>\n'
    if (undefined(name='contents') if l_0_contents is missing else l_0_contents):
        pass
        yield '  <nav aria-label="Contents"><ul>'
        for (l_1_id, l_1_name) in (undefined(name='contents') if l_0_contents is missing else l_0_contents):
            _loop_vars = {}
            pass
            yield '<li><a href="#'
            yield escape(l_1_id)
            yield '">'
            yield escape(l_1_name)
            yield '</a></li>'
        l_1_id = l_1_name = missing
        yield '</ul></nav>\n'
    yield '</header>\n'
    if environment.getattr((undefined(name='overview') if l_0_overview is missing else l_0_overview), 'facts'):
        pass
        yield '<section class="facts" aria-label="Counts">\n  <dl>\n'
        for (l_1_name, l_1_value, l_1_meaning) in environment.getattr((undefined(name='overview') if l_0_overview is missing else l_0_overview), 'facts'):
            _loop_vars = {}
            pass
            yield '    <div><dt>'
            yield escape(l_1_name)
            yield '</dt><dd><strong>'
            yield escape(l_1_value)
            yield '</strong> <span>'
            yield escape(l_1_meaning)
            yield '</span></dd></div>\n'
        l_1_name = l_1_value = l_1_meaning = missing
        yield '  </dl>\n</section>\n'

blocks = {}
debug_info = '3=43&4=45&7=48&8=50&9=52&13=56&15=59&16=63&20=77&21=80&23=82&24=85&26=89&27=93&29=102&30=105&32=107&33=110&36=121&39=124&40=128'
