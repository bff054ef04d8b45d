"""Repeated passages of a collection: lines, sentences, paragraphs, or any run of tokens that occurs twice.

read → token file │ winnow, group, verify → classes of equal places │ walk in keep order → what is removed
     │ read again → spans in bytes and characters │ spans, passages, kept/, report
"""
