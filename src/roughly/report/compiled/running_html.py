"""`running.html` as Python, made by jinja2; see `page_templates`."""

from jinja2.runtime import LoopContext, Macro, Markup, Namespace, TemplateNotFound, TemplateReference, TemplateRuntimeError, Undefined, escape, identity, internalcode, markup_join, missing, str_join
name = 'running.html'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_curve = resolve('curve')
    l_0_sentence = resolve('sentence')
    l_0_m = resolve('m')
    l_0_finds = resolve('finds')
    l_0_stages = resolve('stages')
    l_0_settings = resolve('settings')
    l_0_inputs = resolve('inputs')
    l_0_fingerprint = resolve('fingerprint')
    l_0_inputs_more = resolve('inputs_more')
    l_0_guesses = resolve('guesses')
    try:
        t_1 = environment.filters['list']
    except KeyError:
        @internalcode
        def t_1(*unused):
            raise TemplateRuntimeError("No filter named 'list' found.")
    try:
        t_2 = environment.filters['trim']
    except KeyError:
        @internalcode
        def t_2(*unused):
            raise TemplateRuntimeError("No filter named 'trim' found.")
    pass
    if (undefined(name='curve') if l_0_curve is missing else l_0_curve):
        pass
        yield '<section id="candidates">\n  <h2>Which pairs become candidates</h2>\n'
        l_1_threshold = resolve('threshold')
        l_1_recall = resolve('recall')
        t_3 = []
        pass
        t_3.extend((
            'Pairs that share a key are candidates',
            escape((markup_join((' (', environment.getattr((undefined(name='curve') if l_0_curve is missing else l_0_curve), 'made_of'), ')', )) if environment.getattr((undefined(name='curve') if l_0_curve is missing else l_0_curve), 'made_of') else cond_expr_undefined("the inline if-expression on line 5 in 'running.html' evaluated to false and no else section was defined."))),
            '; only candidates are compared.',
        ))
        if ((undefined(name='threshold') if l_1_threshold is missing else l_1_threshold) and environment.getattr((undefined(name='curve') if l_0_curve is missing else l_0_curve), 'met')):
            pass
            t_3.extend((
                ' A pair exactly at the threshold ',
                escape((undefined(name='threshold') if l_1_threshold is missing else l_1_threshold)),
                ' becomes one with probability ',
                escape(environment.getattr((undefined(name='curve') if l_0_curve is missing else l_0_curve), 'met')),
            ))
            if (undefined(name='recall') if l_1_recall is missing else l_1_recall):
                pass
                t_3.extend((
                    ' (',
                    escape((undefined(name='recall') if l_1_recall is missing else l_1_recall)),
                    ' was requested)',
                ))
            t_3.append(
                '; more similar pairs have a higher probability.',
            )
        if environment.getattr((undefined(name='curve') if l_0_curve is missing else l_0_curve), 'found'):
            pass
            t_3.extend((
                ' Whether such a pair is found, that is, also judged to be a duplicate, depends on the length of the documents: ',
                escape(environment.getattr((undefined(name='curve') if l_0_curve is missing else l_0_curve), 'found')),
                ' (quartiles of this collection).',
            ))
        l_0_sentence = (Markup if context.eval_ctx.autoescape else identity)(concat(t_3))
        context.vars['sentence'] = l_0_sentence
        context.exported_vars.add('sentence')
        l_1_threshold = l_1_recall = missing
        yield '  '
        yield escape(context.call(environment.getattr((undefined(name='m') if l_0_m is missing else l_0_m), 'plot'), environment.getattr((undefined(name='curve') if l_0_curve is missing else l_0_curve), 'plot'), t_2((undefined(name='sentence') if l_0_sentence is missing else l_0_sentence))))
        yield '\n</section>\n'
    elif (undefined(name='finds') if l_0_finds is missing else l_0_finds):
        pass
        yield '<section id="candidates">\n  <h2>Which pairs are found</h2>\n  <p>This method finds '
        yield escape((undefined(name='finds') if l_0_finds is missing else l_0_finds))
        yield '.</p>\n</section>\n'
    if (undefined(name='stages') if l_0_stages is missing else l_0_stages):
        pass
        yield '<section id="stages">\n  <h2>Time and memory</h2>\n'
        if environment.getattr((undefined(name='stages') if l_0_stages is missing else l_0_stages), 'given'):
            pass
            yield '<p class="lead">'
            yield escape(environment.getattr((undefined(name='stages') if l_0_stages is missing else l_0_stages), 'given'))
            yield '</p>'
        yield '  '
        yield escape(context.call(environment.getattr((undefined(name='m') if l_0_m is missing else l_0_m), 'rows_with_bars'), 'Time, bytes and memory per stage, in the order of the run', (['stage'] + t_1(context.eval_ctx, environment.getattr((undefined(name='stages') if l_0_stages is missing else l_0_stages), 'columns'))), environment.getattr((undefined(name='stages') if l_0_stages is missing else l_0_stages), 'rows'), 'kept', environment.getattr((undefined(name='stages') if l_0_stages is missing else l_0_stages), 'total')))
        yield '\n</section>\n'
    if ((undefined(name='settings') if l_0_settings is missing else l_0_settings) or (undefined(name='inputs') if l_0_inputs is missing else l_0_inputs)):
        pass
        yield '<section id="settings">\n  <h2>Settings</h2>\n'
        if (undefined(name='settings') if l_0_settings is missing else l_0_settings):
            pass
            yield '  <div class="scroll" tabindex="0" role="region" aria-label="Settings">\n  <table class="settings">\n    <caption>Settings that determine the result'
            if (undefined(name='fingerprint') if l_0_fingerprint is missing else l_0_fingerprint):
                pass
                yield ': fingerprint <bdi>'
                yield escape((undefined(name='fingerprint') if l_0_fingerprint is missing else l_0_fingerprint))
                yield '</bdi>'
            yield '</caption>\n    <thead><tr><th scope="col">setting</th><th scope="col">value</th></tr></thead>\n    <tbody>'
            for (l_1_name, l_1_value) in (undefined(name='settings') if l_0_settings is missing else l_0_settings):
                _loop_vars = {}
                pass
                yield '<tr><th scope="row"><code>'
                yield escape(l_1_name)
                yield '</code></th><td><bdi>'
                yield escape(l_1_value)
                yield '</bdi></td></tr>'
            l_1_name = l_1_value = missing
            yield '</tbody>\n  </table>\n  </div>\n'
        if (undefined(name='inputs') if l_0_inputs is missing else l_0_inputs):
            pass
            yield '  <h3>Inputs</h3>\n  <ul class="inputs">'
            for l_1_name in (undefined(name='inputs') if l_0_inputs is missing else l_0_inputs):
                _loop_vars = {}
                pass
                yield '<li><bdi>'
                yield escape(l_1_name)
                yield '</bdi></li>'
            l_1_name = missing
            if (undefined(name='inputs_more') if l_0_inputs_more is missing else l_0_inputs_more):
                pass
                yield '<li>and '
                yield escape((undefined(name='inputs_more') if l_0_inputs_more is missing else l_0_inputs_more))
                yield ' more</li>'
            yield '</ul>\n'
        yield '</section>\n'
    if (undefined(name='guesses') if l_0_guesses is missing else l_0_guesses):
        pass
        yield '<section id="guesses">\n  <h2>What was guessed</h2>\n  <p class="lead">These were not specified, and were guessed from the data. Specify them in the settings to be sure.</p>\n  <ul>'
        for l_1_guess in (undefined(name='guesses') if l_0_guesses is missing else l_0_guesses):
            _loop_vars = {}
            pass
            yield '<li dir="auto">'
            yield escape(l_1_guess)
            yield '</li>'
        l_1_guess = missing
        yield '</ul>\n</section>\n'

blocks = {}
debug_info = '1=33&5=42&4=70&7=75&9=77&12=80&15=82&18=85&19=91&22=93&25=96&28=99&30=105&34=115&36=118&40=132&44=135'
