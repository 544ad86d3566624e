"""Synthetic clinics: patients, medicines that do not exist, guidelines, and what is right."""
